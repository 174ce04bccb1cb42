#include <cmath>

#include "ops/random/draw.h"
#include "ops/random/mersenne.h"
#include "types/infer.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_rank(scope, 0, 2, 2));
  const auto& draw = scope.attributes<Draw>();
  MICA_CHECK(draw.samples >= 0, kBadAttribute, "`samples` is {}", draw.samples);
  MICA_CHECK(is_integer(draw.dtype), kBadType, "classes are integers, not {}", name_of(draw.dtype));
  Shape shape = Shape::of_rank(2);
  shape[0] = scope.shape(0).known() ? scope.shape(0)[0] : scope.dims().fresh("batch");
  shape[1] = draw.samples;
  scope.out(0, draw.dtype, shape);
  return {};
}

// The smallest class up to which the probabilities, as shares of their sum, exceed a uniform number.
int64_t choose(const Elements& in, int64_t row, int64_t classes, double largest, double share) {
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) {
    sum += std::exp(in.number(row * classes + c) - largest);
    if (sum > share) return c;
  }
  return classes - 1;
}

Status reference(RunScope& scope) {
  const auto& draw = scope.attributes<Draw>();
  const TensorView& x = scope.in(0);
  const int64_t rows = x.dim(0), classes = x.dim(1);
  MICA_CHECK(classes > 0 || rows == 0, kBadShape, "there is no class to draw");
  MICA_TRY_STATUS(scope.allocate_output(0, std::array{rows, draw.samples}));
  random::Mersenne generator(static_cast<uint64_t>(draw.seed));
  const Elements in(x), out(scope.out(0));
  for (int64_t row = 0; row < rows; ++row) {
    MICA_TRY_STATUS(scope.check_stop());
    double largest = -INFINITY, total = 0;
    for (int64_t c = 0; c < classes; ++c) largest = std::fmax(largest, in.number(row * classes + c));
    for (int64_t c = 0; c < classes; ++c) total += std::exp(in.number(row * classes + c) - largest);
    for (int64_t s = 0; s < draw.samples; ++s)
      out.set_integer(row * draw.samples + s, choose(in, row, classes, largest, generator.uniform() * total));
  }
  return {};
}

}  // namespace

MICA_OP(multinomial) = {.name = "multinomial",
                        .doc = "classes drawn by rows of logarithms of probabilities, up to a constant",
                        .attributes = attr_class<Draw>(),
                        .infer = infer,
                        .reference = reference,
                        .random = true};

}  // namespace mica
