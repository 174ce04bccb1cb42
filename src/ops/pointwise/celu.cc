#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(celu) = pointwise::parametric<op_celu>("celu", "max(x, 0) + min(0, alpha * (e^(x / alpha) - 1))",
                                               Pointwise::kCelu);

}  // namespace mica
