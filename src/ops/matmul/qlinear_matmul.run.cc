#include "ops/matmul/exact_product.h"

namespace mica {
namespace {

enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };

// One scale for A and for Y, one for B or one for each of its columns, all of them constant.
MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  for (int i : {kAScale, kBScale, kYScale, kYZero})
    if (!scope.input(i).constant) return false;
  const TensorView &b = scope.input(kB).view, &b_scale = scope.input(kBScale).view;
  if (b.rank < 2 || scope.input(kAScale).view.count() != 1 || scope.input(kYScale).view.count() != 1) return false;
  if (scope.input(kYZero).view.count() != 1 || !is_byte(scope.output(0).view.dtype)) return false;
  const int64_t n = b.dim(b.rank - 1);
  if (b_scale.count() != 1 && b_scale.count() != n) return false;
  MICA_TRY(const matmul::ExactSums sums,
           matmul::bind_exact(scope, {.a = kA, .a_zero = kAZero, .b = kB, .b_zero = kBZero}, 1));
  if (sums.parts == 0) return false;
  MICA_TRY(void* memory, scope.memory(static_cast<size_t>(n) * sizeof(float)));
  float* multipliers = static_cast<float*>(memory);
  const auto scale = [&](int input, int64_t i) {
    return static_cast<float>(Elements(scope.input(input).view).number(i));
  };
  for (int64_t j = 0; j < n; ++j)
    multipliers[j] =
        requantize_multiplier(scale(kAScale, 0), scale(kBScale, b_scale.count() == 1 ? 0 : j), scale(kYScale, 0));
  const auto zero = static_cast<int32_t>(Elements(scope.input(kYZero).view).integer(0));
  MICA_TRY_STATUS(matmul::finish_exact(scope, sums.part[0], multipliers, zero));
  return true;
}

}  // namespace

MICA_RUN(qlinear_matmul) = {.bind = bind};

}  // namespace mica
