#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(sinh) = pointwise::unary<op_sinh>("sinh", "hyperbolic sine", Pointwise::kSinh);

}  // namespace mica
