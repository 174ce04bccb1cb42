#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(sqrt) = pointwise::unary<op_sqrt>("sqrt", "square root; NaN below 0", Pointwise::kSqrt);

}  // namespace mica
