#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(sign) = pointwise::unary_number<op_sign>("sign", "-1, 0 or 1; NaN for NaN", Pointwise::kSign);

}  // namespace mica
