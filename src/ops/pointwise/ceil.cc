#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(ceil) = pointwise::unary_number<op_ceil>("ceil", "smallest whole number not below x", Pointwise::kCeil);

}  // namespace mica
