#include "ops/image/affine_grid.h"
#include "step/run.h"

namespace mica {
namespace {

// A task is one line of points: the picture's last axis, at one place of the others.
struct AffineStep {
  bool align_corners;
  int axes, out;
  int64_t lines, size[3];
};

template <class T>
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& s = *static_cast<const AffineStep*>(arguments);
  const int n = s.axes;
  const int64_t width = s.size[n - 1];
  for (int64_t line = range.begin; line < range.end; ++line) {
    const T* theta = static_cast<const T*>(operands[0]) + line / s.lines * n * (n + 1);
    T* out = static_cast<T*>(operands[s.out]) + line * width * n;
    double rest[3];  // what stays the same along the line: all but the last axis, whose coordinate is theta's first
    for (int r = 0; r < n; ++r) rest[r] = static_cast<double>(theta[r * (n + 1) + n]);
    for (int64_t axis = n - 1, at = line % s.lines; axis-- > 0; at /= s.size[axis]) {
      const double c = affine_coordinate(at % s.size[axis], s.size[axis], s.align_corners);
      for (int r = 0; r < n; ++r) rest[r] += static_cast<double>(theta[r * (n + 1) + n - 1 - axis]) * c;
    }
    for (int64_t i = 0; i < width; ++i) {
      const double c = affine_coordinate(i, width, s.align_corners);
      for (int r = 0; r < n; ++r) *out++ = static_cast<T>(static_cast<double>(theta[r * (n + 1)]) * c + rest[r]);
    }
  }
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView &theta = scope.input(0).view, &out = scope.output(0).view;
  if ((theta.dtype != DType::kF32 && theta.dtype != DType::kF64) || !theta.contiguous() || !out.contiguous())
    return false;
  const int axes = out.rank - 2;
  if (axes < 2 || axes > 3 || theta.rank != 3 || theta.dim(0) != out.dim(0) || theta.dim(1) != axes ||
      theta.dim(2) != axes + 1)
    return false;
  if (out.empty()) return true;
  MICA_TRY(AffineStep * s, scope.arguments<AffineStep>());
  *s = {.align_corners = scope.attributes<AffineGrid>().align_corners,
        .axes = axes,
        .out = static_cast<int>(scope.inputs.size()),
        .lines = 1,
        .size = {}};
  for (int i = 0; i < axes; ++i) s->size[i] = out.dim(1 + i);
  for (int i = 0; i + 1 < axes; ++i) s->lines *= s->size[i];
  const bool wide = theta.dtype == DType::kF64;
  MICA_TRY_STATUS(scope.add({.kernel = wide ? run<double> : run<float>,
                             .arguments = s,
                             .tasks = out.dim(0) * s->lines,
                             .work = static_cast<double>(out.count()),
                             .name = wide ? "affine_grid_f64" : "affine_grid_f32"}));
  return true;
}

}  // namespace

MICA_RUN(affine_grid) = {.bind = bind};

}  // namespace mica
