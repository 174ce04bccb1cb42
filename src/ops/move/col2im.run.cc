#include "ops/move/col2im.h"

#include <algorithm>

#include "base/integers.h"
#include "step/run.h"

namespace mica {
namespace {

// Columns of rows (y) and pixels of a row (x); one axis alone is x.
struct Col2ImAxis {
  int64_t image = 1, block = 1, steps = 1, stride = 1, dilation = 1, begin = 0;

  // Where the first place's element `inside` of a block lies.
  int64_t offset(int64_t inside) const { return inside * dilation - begin; }
  // The places [first, last) whose element lies in the image.
  int64_t first(int64_t inside) const { return std::clamp(ceil_div(-offset(inside), stride), int64_t{0}, steps); }
  int64_t last(int64_t inside) const {
    return std::clamp(ceil_div(image - offset(inside), stride), first(inside), steps);
  }
};
struct Col2ImStep {
  Col2ImAxis y, x;
  int out;
};

// A task is a channel of an image: blocks' elements are added in their order, each for all places.
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const Col2ImStep*>(arguments);
  const Col2ImAxis &y = step.y, &x = step.x;
  const int64_t pixels = y.image * x.image;
  for (int64_t task = range.begin; task < range.end; ++task) {
    const float* in = static_cast<const float*>(operands[0]) + task * y.block * x.block * y.steps * x.steps;
    float* image = static_cast<float*>(operands[step.out]) + task * pixels;
    std::fill_n(image, pixels, 0.0f);
    for (int64_t b = 0; b < y.block; ++b)
      for (int64_t a = 0; a < x.block; ++a, in += y.steps * x.steps) {
        const int64_t first = x.first(a), count = x.last(a) - first;
        for (int64_t r = y.first(b); r < y.last(b); ++r) {
          const float* from = in + r * x.steps + first;
          float* to = image + (r * y.stride + y.offset(b)) * x.image + first * x.stride + x.offset(a);
          for (int64_t i = 0; i < count; ++i) to[i * x.stride] += from[i];
        }
      }
  }
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView &x = scope.input(0).view, &out = scope.output(0).view;
  if (x.dtype != DType::kF32 || x.rank != 3 || out.empty() || !x.contiguous() || !out.contiguous()) return false;
  if (!scope.input(1).constant || !scope.input(2).constant) return false;
  MICA_TRY(const Col2ImGeometry g,
           col2im_geometry(scope.attributes<Col2Im>(), scope.input(1).view, scope.input(2).view));
  if (g.rank < 1 || g.rank > 2 || x.dim(1) % g.block_size != 0 || x.dim(2) != g.places) return false;
  MICA_TRY(Col2ImStep * step, scope.arguments<Col2ImStep>());
  *step = {.out = static_cast<int>(scope.inputs.size())};
  for (int i = 0; i < g.rank; ++i)
    (i + 1 < g.rank ? step->y : step->x) = {g.image[i], g.block[i], g.steps[i], g.stride[i], g.dilation[i], g.begin[i]};
  MICA_TRY_STATUS(scope.add({.kernel = run,
                             .arguments = step,
                             .tasks = x.dim(0) * (x.dim(1) / g.block_size),
                             .work = 2 * static_cast<double>(x.count()),
                             .name = "col2im"}));
  return true;
}

}  // namespace

MICA_RUN(col2im) = {.bind = bind};

}  // namespace mica
