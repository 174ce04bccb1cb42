#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(elu) = pointwise::parametric<op_elu>("elu", "x, or alpha * (e^x - 1) below 0", Pointwise::kElu);

}  // namespace mica
