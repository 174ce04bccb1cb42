#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(abs) = pointwise::unary_number<op_abs>("abs", "absolute value", Pointwise::kAbs);

}  // namespace mica
