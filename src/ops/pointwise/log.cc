#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(log) = pointwise::unary<op_log>("log", "natural logarithm; NaN below 0", Pointwise::kLog);

}  // namespace mica
