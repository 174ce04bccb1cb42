#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(tanh) = pointwise::unary<op_tanh>("tanh", "hyperbolic tangent", Pointwise::kTanh);

}  // namespace mica
