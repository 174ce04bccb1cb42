#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(hard_sigmoid) = pointwise::parametric<op_hard_sigmoid>("hard_sigmoid", "clamp(alpha * x + beta, 0, 1)",
                                                               Pointwise::kHardSigmoid);

}  // namespace mica
