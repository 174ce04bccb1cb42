#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(softsign) = pointwise::unary<op_softsign>("softsign", "x / (1 + abs(x))", Pointwise::kSoftsign);

}  // namespace mica
