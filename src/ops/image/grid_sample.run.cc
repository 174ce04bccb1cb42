#include "ops/image/grid_sample.h"
#include "step/loops.h"
#include "step/run.h"

namespace mica {
namespace {

struct GridStep {
  GridProblem problem;
  const GridKernels* kernels;
  int out;
};

void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& s = *static_cast<const GridStep*>(arguments);
  s.kernels->sample(s.problem, static_cast<const float*>(operands[0]), operands[1],
                    static_cast<float*>(operands[s.out]), static_cast<float*>(range.scratch), range.begin, range.end);
}

bool types_fit(const TensorView& x, const TensorView& places) {
  return x.dtype == DType::kF32 && (places.dtype == DType::kF32 || places.dtype == DType::kF64) && x.rank >= 3 &&
         x.rank <= 2 + kMostGridAxes && places.rank == x.rank && places.dim(0) == x.dim(0) &&
         places.dim(places.rank - 1) == x.rank - 2;
}

// Offsets of elements within an image, and the factors they are made of, have 32 bits.
bool place_axes(const TensorView& x, GridProblem& p) {
  p.axes = x.rank - 2;
  int64_t last = 0;
  for (int i = 0; i < p.axes; ++i) {
    const int64_t size = x.dim(2 + i), step = x.stride(2 + i) / element_bytes(x.dtype);
    if (size > INT32_MAX || step > INT32_MAX || (size > 1 && step > (INT32_MAX - last) / (size - 1))) return false;
    p.size[i] = static_cast<int32_t>(size);
    p.step[i] = static_cast<int32_t>(step);
    last += (size - 1) * step;
  }
  return true;
}

// Of all points of an image.
double taps_of(const GridProblem& p) { return static_cast<double>(p.points) * static_cast<double>(grid_taps(p)); }

// Channels that are not neighbours: worth a copy of the image with such, unless few of its elements are asked for.
bool wants_copy(const GridProblem& p) {
  double elements = 1;  // sizes that a file claims may multiply to more than an integer holds
  for (int i = 0; i < p.axes; ++i) elements *= static_cast<double>(p.size[i]);
  return p.channels >= 4 && p.in_channel != 1 && taps_of(p) >= elements;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& attributes = scope.attributes<GridSample>();
  const TensorView &x = scope.input(0).view, &places = scope.input(1).view, &out = scope.output(0).view;
  if (!types_fit(x, places) || !places.contiguous() || !strides_fit(x) || !strides_fit(out)) return false;
  if (out.empty()) return true;
  if (x.empty()) return false;
  GridProblem p = {.mode = attributes.mode,
                   .padding = attributes.padding,
                   .align_corners = attributes.align_corners,
                   .doubles = places.dtype == DType::kF64,
                   .images = x.dim(0),
                   .channels = x.dim(1)};
  constexpr int64_t kFloat = sizeof(float);
  p.in_image = x.stride(0) / kFloat, p.in_channel = x.stride(1) / kFloat;
  p.out_image = out.stride(0) / kFloat, p.out_channel = out.stride(1) / kFloat;
  if (!place_axes(x, p) || !join_axes(out, 2, out.rank, p.points, p.out_point) || wants_copy(p)) return false;
  MICA_TRY(GridStep * s, scope.arguments<GridStep>());
  *s = {.problem = p, .kernels = &grid_kernels(scope.machine->isa), .out = static_cast<int>(scope.inputs.size())};
  constexpr double kPlace = 4;  // multiply-adds to find a tap
  MICA_TRY_STATUS(
      scope.add({.kernel = run,
                 .arguments = s,
                 .tasks = grid_tasks(p),
                 .work = static_cast<double>(p.images) * taps_of(p) * (kPlace + static_cast<double>(p.channels)),
                 .scratch_bytes = static_cast<size_t>(grid_scratch(p)) * sizeof(float),
                 .name = "grid_sample_f32"}));
  return true;
}

}  // namespace

MICA_RUN(grid_sample) = {.bind = bind};

}  // namespace mica
