#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(asinh) = pointwise::unary<op_asinh>("asinh", "inverse hyperbolic sine", Pointwise::kAsinh);

}  // namespace mica
