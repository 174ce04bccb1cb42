#include "ops/matmul/exact_product.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  MICA_TRY(const ImageOperand sums, matmul::bind_exact(scope, {.a = 0, .a_zero = 2, .b = 1, .b_zero = 3}));
  if (sums.operand < 0) return false;
  MICA_TRY_STATUS(matmul::finish_exact(scope, sums, nullptr, 0));
  return true;
}

}  // namespace

MICA_RUN(matmul_integer) = {.bind = bind};

}  // namespace mica
