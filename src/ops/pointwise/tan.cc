#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(tan) = pointwise::unary<op_tan>("tan", "tangent of radians", Pointwise::kTan);

}  // namespace mica
