#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(shrink) = pointwise::parametric<op_shrink>("shrink", "x + beta below -alpha, x - beta above alpha, else 0",
                                                   Pointwise::kShrink);

}  // namespace mica
