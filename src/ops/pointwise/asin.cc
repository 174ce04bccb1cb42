#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(asin) = pointwise::unary<op_asin>("asin", "arc sine in radians", Pointwise::kAsin);

}  // namespace mica
