#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(atan) = pointwise::unary<op_atan>("atan", "arc tangent in radians", Pointwise::kAtan);

}  // namespace mica
