#include "ops/image/resize.h"

#include "kernels/move/resize.h"
#include "step/loops.h"
#include "step/run.h"

namespace mica {
namespace {

struct ResizeStep {
  ResampleProblem problem;
  const ResampleKernels* kernels;
  int64_t element;
  int out;
};

void run_linear(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const ResizeStep*>(arguments);
  args.kernels->linear(args.problem, static_cast<const float*>(operands[0]), static_cast<float*>(operands[args.out]),
                       static_cast<float*>(range.scratch), range.begin, range.end);
}
void run_nearest(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const ResizeStep*>(arguments);
  resample_nearest(args.problem, args.element, static_cast<const char*>(operands[0]),
                   static_cast<char*>(operands[args.out]), range.begin, range.end);
}

constexpr int64_t kMostTaps = 256;

// Places for an axis's taps and weights, in its order.
struct AxisTables {
  int32_t* index;
  float* weight;
};
Result<AxisTables> make_tables(BindScope& scope, ResampleAxis& axis) {
  const auto count = static_cast<size_t>(axis.taps * axis.out);
  MICA_TRY(void* index, scope.memory(count * sizeof(int32_t)));
  MICA_TRY(void* weight, scope.memory(count * sizeof(float)));
  const AxisTables made{static_cast<int32_t*>(index), static_cast<float*>(weight)};
  axis.index = made.index;
  axis.weight = made.weight;
  return made;
}

// Taps and weights of one axis, tap by tap. An axis that stays as it is has one tap of weight 1.
Result<bool> make_axis(BindScope& scope, const ResizeAxis& plan, ResampleAxis& axis) {
  const auto& attributes = scope.attributes<Resize>();
  const bool same = plan.same(attributes);
  axis = {.in = plan.in, .out = plan.out, .taps = same ? 1 : resize_taps(attributes, plan)};
  if (axis.taps > kMostTaps || plan.in > INT32_MAX || plan.out > INT32_MAX) return false;
  MICA_TRY(const AxisTables tables, make_tables(scope, axis));
  int64_t places[kMostTaps];
  double weights[kMostTaps];
  for (int64_t i = 0; i < axis.out; ++i) {
    places[0] = i;
    weights[0] = 1;
    if (!same && !resize_sample(attributes, plan, i, places, weights)) return false;
    for (int64_t k = 0; k < axis.taps; ++k) {
      tables.index[k * axis.out + i] = static_cast<int32_t>(places[k]);
      tables.weight[k * axis.out + i] = static_cast<float>(weights[k]);
    }
  }
  return true;
}

// Neighbouring axes as one: a sample of `inner` in each sample of `outer`, their taps multiplied.
Result<bool> product_of(BindScope& scope, const ResampleAxis& outer, const ResampleAxis& inner, ResampleAxis& axis) {
  axis = {.in = outer.in * inner.in, .out = outer.out * inner.out, .taps = outer.taps * inner.taps};
  if (axis.taps > kMostTaps || axis.in > INT32_MAX || axis.out > INT32_MAX) return false;
  MICA_TRY(AxisTables next, make_tables(scope, axis));
  for (int64_t k = 0; k < axis.taps; ++k)
    for (int64_t i = 0; i < axis.out; ++i) {
      const int64_t a = k / inner.taps * outer.out + i / inner.out, b = k % inner.taps * inner.out + i % inner.out;
      *next.index++ = static_cast<int32_t>(outer.index[a] * inner.in + inner.index[b]);
      *next.weight++ = outer.weight[a] * inner.weight[b];
    }
  return true;
}

// The axes that are rows of the problem, as one.
Result<bool> make_rows(BindScope& scope, std::span<const ResizeAxis> plans, ResampleAxis& rows) {
  bool good = true;
  MICA_TRY(good, make_axis(scope, plans.empty() ? ResizeAxis() : plans.back(), rows));
  for (size_t i = plans.size(); good && i-- > 1;) {
    ResampleAxis outer;
    MICA_TRY(good, make_axis(scope, plans[i - 1], outer));
    if (!good) break;
    const ResampleAxis inner = rows;
    MICA_TRY(good, product_of(scope, outer, inner, rows));
  }
  return good;
}

// Pixels whose channels fill most of what lies between them: whole rows are blended, gaps with them.
bool are_pixels(const TensorView& in, int w) {
  const int64_t e = element_bytes(in.dtype), channels = in.dim(1), pixel = in.stride(w) / e;
  return channels > 1 && in.stride(1) == e && pixel >= channels && pixel * 3 <= channels * 4;
}

// Strides of the problem, whose rows are the axes from `h` to the last but one: channels innermost when the input has
// them so, else one plane per channel, whose rows must be dense. Axes that are one are evenly spaced; planes made of
// innermost channels have dense rows too.
bool place_operands(const TensorView& in, const TensorView& out, int h, ResampleProblem& p) {
  const int64_t e = element_bytes(in.dtype);
  const int rank = in.rank, w = rank - 1;
  for (int i = 0; i < rank; ++i)
    if (in.stride(i) % e != 0 || out.stride(i) % e != 0) return false;
  const bool innermost = rank >= 3 && are_pixels(in, w);
  p.channels = innermost ? in.dim(1) : 1;
  p.pixel_in = innermost ? in.stride(w) / e : 1;
  if (innermost) p.channel_out = out.stride(1) / e;
  if (in.dim(w) > 1 && in.stride(w) != p.pixel_in * e) return false;
  p.pixel_out = out.stride(w) / e;
  if (p.channel_out != 1 && p.pixel_out != 1) return false;
  int64_t groups = 1, planes = 1, rows = 1;
  if (!join_axes(in, h, w, rows, p.row_in) || !join_axes(out, h, w, rows, p.row_out)) return false;
  const int lead = rank >= 3 ? 1 : 0;  // the batch
  if (!join_axes(in, 0, lead, p.groups, p.group_in) || !join_axes(out, 0, lead, groups, p.group_out)) return false;
  const int first = innermost ? 2 : lead;
  return join_axes(in, first, h, p.planes, p.plane_in) && join_axes(out, first, h, planes, p.plane_out);
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView &in = scope.input(0).view, &out = scope.output(0).view;
  const auto& attributes = scope.attributes<Resize>();
  const bool nearest = attributes.mode == ResizeMode::kNearest;
  if (in.rank < 2 || in.empty() || is_sub_byte(in.dtype) || in.dtype == DType::kString) return false;
  if (!nearest && in.dtype != DType::kF32) return false;
  if (out.empty()) return true;
  const TensorView* operands[3];
  for (int i = 0; i < 3; ++i) {
    const BoundOperand& operand = scope.input(i + 1);
    operands[i] = nullptr;
    if (i == 0 && attributes.coordinates != Coordinates::kTfCropAndResize) continue;  // no region is looked at
    if (operand.present && operand.view.count() > 0 && !operand.constant) return false;
    operands[i] = operand.present && operand.view.count() > 0 ? &operand.view : nullptr;
  }
  ResizeAxis plan[kMaxRank];
  MICA_TRY_STATUS(resize_axes(attributes, in.shape(), {operands[0], operands[1], operands[2]}, plan));
  // Rows are the last axis but one, and what changes before it. Three axes have no rows: the second has the channels.
  const int rank = in.rank, w = rank - 1;
  int h = rank == 3 ? w : rank - 2;
  for (int i = h; i-- > 0;)
    if (!plan[i].same(attributes)) h = i;
  if (rank > 2 && h < 2) return false;
  MICA_TRY(ResizeStep * args, scope.arguments<ResizeStep>());
  *args = {.problem = {},
           .kernels = &resample_kernels(scope.machine->isa),
           .element = element_bytes(in.dtype),
           .out = static_cast<int>(scope.inputs.size())};
  ResampleProblem& p = args->problem;
  if (!place_operands(in, out, h, p) || (nearest && p.channel_out != 1)) return false;
  MICA_TRY(const bool columns, make_axis(scope, plan[w], p.columns));
  MICA_TRY(const bool rows, make_rows(scope, {plan + h, static_cast<size_t>(w - h)}, p.rows));
  if (!columns || !rows) return false;
  const int64_t tasks = p.groups * p.planes * p.rows.out;
  const double row = static_cast<double>(p.channels * (p.columns.in * p.rows.taps + p.columns.out * p.columns.taps));
  MICA_TRY_STATUS(scope.add({.kernel = nearest ? run_nearest : run_linear,
                             .arguments = args,
                             .tasks = tasks,
                             .work = static_cast<double>(tasks) * row / 4,
                             .scratch_bytes = nearest ? 0 : static_cast<size_t>(resample_scratch(p)) * sizeof(float),
                             .name = nearest ? "resize_nearest" : "resize_f32"}));
  return true;
}

}  // namespace

MICA_RUN(resize) = {.bind = bind};

}  // namespace mica
