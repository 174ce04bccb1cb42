#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(hard_swish) = pointwise::unary<op_hard_swish>("hard_swish", "x * clamp(x / 6 + 1/2, 0, 1)",
                                                      Pointwise::kHardSwish);

}  // namespace mica
