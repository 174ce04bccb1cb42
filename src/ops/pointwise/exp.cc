#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(exp) = pointwise::unary<op_exp>("exp", "e to the power x", Pointwise::kExp);

}  // namespace mica
