#include "ops/conv/exact_conv.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  MICA_TRY(const ImageOperand sums,
           conv::bind_exact(scope, scope.attributes<Conv>(), {.x = 0, .x_zero = 2, .w = 1, .w_zero = 3}));
  if (sums.operand < 0) return false;
  MICA_TRY_STATUS(write_narrowed(scope, sums, scope.output(0).view, {.index = static_cast<int>(scope.inputs.size())}));
  return true;
}

}  // namespace

MICA_RUN(conv_integer) = {.bind = bind};

}  // namespace mica
