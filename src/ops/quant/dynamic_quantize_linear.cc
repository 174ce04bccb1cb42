#include <cmath>

#include "types/infer.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  scope.out(0, DType::kU8, scope.shape(0));
  scope.out(1, DType::kF32, Shape::of_rank(0));
  scope.out(2, DType::kU8, Shape::of_rank(0));
  return {};
}

// The interval that is mapped to 0 ... 255 contains 0, so that 0 is exact. Single precision throughout, as the standard
// says.
Status reference(RunScope& scope) {
  const TensorView& x = scope.in(0);
  MICA_TRY_STATUS(scope.allocate_output(0, x.shape()));
  MICA_TRY_STATUS(scope.allocate_output(1, {}));
  MICA_TRY_STATUS(scope.allocate_output(2, {}));
  const Elements in(x);
  const int64_t n = x.count();
  float low = 0, high = 0;
  for (int64_t i = 0; i < n; ++i) {
    low = std::fmin(low, static_cast<float>(in.number(i)));
    high = std::fmax(high, static_cast<float>(in.number(i)));
  }
  const float scale = (high - low) / 255.0f;
  const float zero = scale == 0 ? 0 : std::nearbyint(std::fmin(std::fmax(-low / scale, 0.0f), 255.0f));
  if (scope.wants(0))
    for (int64_t i = 0; i < n; ++i) {
      const float quotient = scale == 0 ? 0 : std::nearbyint(static_cast<float>(in.number(i)) / scale) + zero;
      Elements(scope.out(0)).set_integer(i, static_cast<int64_t>(quotient > 0 ? std::fmin(quotient, 255.0f) : 0.0f));
    }
  if (scope.wants(1)) Elements(scope.out(1)).set_number(0, static_cast<double>(scale));
  if (scope.wants(2)) Elements(scope.out(2)).set_integer(0, static_cast<int64_t>(zero));
  return {};
}

}  // namespace

MICA_OP(dynamic_quantize_linear) = {
    .name = "dynamic_quantize_linear",
    .doc = "x as u8 with the scale and zero point (outputs 1 and 2) that its own range gives",
    .outputs = {1, 3},
    .infer = infer,
    .reference = reference};

}  // namespace mica
