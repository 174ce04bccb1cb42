#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(gelu) = pointwise::unary<op_gelu>("gelu", "x * (1 + erf(x / sqrt(2))) / 2", Pointwise::kGelu);

}  // namespace mica
