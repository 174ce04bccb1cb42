#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(relu) = pointwise::unary_number<op_relu>("relu", "max(x, 0)", Pointwise::kRelu);

}  // namespace mica
