#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(erf) = pointwise::unary<op_erf>("erf", "error function", Pointwise::kErf);

}  // namespace mica
