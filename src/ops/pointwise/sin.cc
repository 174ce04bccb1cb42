#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(sin) = pointwise::unary<op_sin>("sin", "sine of radians", Pointwise::kSin);

}  // namespace mica
