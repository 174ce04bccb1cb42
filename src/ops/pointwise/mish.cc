#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(mish) = pointwise::unary<op_mish>("mish", "x * tanh(log(1 + e^x))", Pointwise::kMish);

}  // namespace mica
