#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(square) = pointwise::unary_number<op_square>("square", "x * x", Pointwise::kSquare);

}  // namespace mica
