#include "ops/pool/pool_step.h"

#include <algorithm>

namespace mica::pool {

void run_pool_step(const void* arguments, void* const* operands, const TaskRange& range) {
  const PoolStep& step = *static_cast<const PoolStep*>(arguments);
  PoolArgs args = step.args;
  args.x = static_cast<const float*>(operands[step.x]);
  args.y = static_cast<float*>(operands[step.y]);
  step.kernels->run(args, range.begin, range.end);
}

namespace {

// Planes as images of one channel; false where pixels of a row or planes of different images are no even steps apart.
bool as_planes(const ImageView& view, ImageView& planes) {
  if (view.pixel != 1 || (view.images > 1 && view.image != view.channels * view.channel)) return false;
  planes = view;
  planes.images = view.images * view.channels;
  planes.image = view.channels == 1 ? view.image : view.channel;
  planes.channels = planes.channel = 1;
  return true;
}

void set_images(PoolProblem& p, const BindScope& scope, const ImageView& from, const ImageView& to) {
  p.images = from.images;
  p.channels = from.channels;
  std::copy_n(from.extent, 3, p.in);
  std::copy_n(to.extent, 3, p.out);
  if (scope.band) scope.band->set_pads(scope.input(0).view.rank, p.pad);
  p.in_view = view_of(from);
  p.out_view = view_of(to);
}

}  // namespace

Status add_pool(BindScope& scope, const PoolProblem& problem, const ImageOperand& from, const ImageOperand& to,
                std::string_view name) {
  MICA_TRY(PoolStep * step, scope.arguments<PoolStep>());
  *step = {
      .args = {.problem = problem}, .x = from.operand, .y = to.operand, .kernels = &pool_kernels(scope.machine->isa)};
  PoolProblem& p = step->args.problem;
  set_images(p, scope, from.view, to.view);
  step->args.choice = choose_pool(p, scope.machine->threads);
  const double elements = static_cast<double>(p.images * p.channels * to.view.pixels());
  return scope.add({.kernel = run_pool_step,
                    .arguments = step,
                    .tasks = step->args.choice.tasks,
                    .work = elements * static_cast<double>(p.kernel[0] * p.kernel[1] * p.kernel[2]),
                    .name = name});
}

Result<bool> bind_pool(BindScope& scope, const PoolProblem& problem, std::string_view name) {
  const TensorView &x = scope.input(0).view, &out = scope.output(0).view;
  ImageView in_view, out_view;
  if (x.dtype != DType::kF32 || x.empty() || out.empty() || !image_view(x, in_view) || !image_view(out, out_view))
    return false;
  if (!has_pool(problem.kind)) return false;
  const int y = static_cast<int>(scope.inputs.size());
  ImageOperand planes{0, {}}, pooled{y, {}};
  if (!scope.sizes_vary && as_planes(in_view, planes.view) && as_planes(out_view, pooled.view)) {
    PoolProblem lines = problem;
    set_images(lines, scope, planes.view, pooled.view);
    if (suits_planes(lines)) {
      MICA_TRY_STATUS(add_pool(scope, problem, planes, pooled, name));
      return true;
    }
  }
  MICA_TRY(const ImageOperand to, write_channels_last(scope, y, out));
  if (to.operand < 0) return false;
  MICA_TRY(const ImageOperand from, read_channels_last(scope, 0, x));
  if (from.operand < 0) return false;
  MICA_TRY_STATUS(add_pool(scope, problem, from, to, name));
  MICA_TRY_STATUS(finish_channels_last(scope, y, out, to));
  return true;
}

Result<bool> bind_pool_8bit(BindScope& scope, const PoolProblem& problem, std::string_view name) {
  const TensorView &x = scope.input(0).view, &out = scope.output(0).view;
  if (x.empty() || out.empty() || !can_narrow(out) || !has_pool(problem.kind)) return false;
  MICA_TRY(const ImageOperand from, read_widened(scope, 0, x, {}));
  MICA_TRY(const ImageOperand to, temporary_image(scope, out));
  if (from.operand < 0 || to.operand < 0) return false;
  MICA_TRY_STATUS(add_pool(scope, problem, from, to, name));
  MICA_TRY_STATUS(write_narrowed(scope, to, out, {.index = static_cast<int>(scope.inputs.size())}));
  return true;
}

bool set_window(PoolProblem& p, const Window& w) {
  if (w.spatial > 3) return false;
  for (int i = 0; i < w.spatial; ++i) {
    const int to = 3 - w.spatial + i;
    const auto from = static_cast<size_t>(i);
    p.kernel[to] = w.kernel[from];
    p.stride[to] = w.stride[from];
    p.dilation[to] = w.dilation[from];
    p.pad[to] = w.pad_begin[from];
    p.pad_after[to] = w.pad_end[from];
  }
  return true;
}

bool rows(const BindScope& scope, const WindowSpec& spec, std::span<const int64_t> kernel, RowWindow& window) {
  const TensorView& x = scope.input(0).view;
  if (x.rank < 3 || x.rank > 5 || x.dtype != DType::kF32) return false;
  if (scope.outputs.size() > 1 && scope.output(1).present) return false;
  const auto all = fixed_window(spec, x.shape().subspan(2), kernel);
  if (!all.ok()) return false;
  window = row_window(*all);
  return true;
}

bool set_global(PoolProblem& p, const TensorView& x) {
  ImageView view;
  if (!image_view(x, view)) return false;
  std::copy_n(view.extent, 3, p.kernel);
  return true;
}

}  // namespace mica::pool
