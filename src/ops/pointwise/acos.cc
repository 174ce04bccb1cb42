#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(acos) = pointwise::unary<op_acos>("acos", "arc cosine in radians", Pointwise::kAcos);

}  // namespace mica
