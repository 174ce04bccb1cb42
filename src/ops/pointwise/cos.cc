#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(cos) = pointwise::unary<op_cos>("cos", "cosine of radians", Pointwise::kCos);

}  // namespace mica
