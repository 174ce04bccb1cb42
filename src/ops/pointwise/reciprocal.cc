#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(reciprocal) = pointwise::unary<op_reciprocal>("reciprocal", "1 / x", Pointwise::kReciprocal);

}  // namespace mica
