#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(acosh) = pointwise::unary<op_acosh>("acosh", "inverse hyperbolic cosine; NaN below 1", Pointwise::kAcosh);

}  // namespace mica
