#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(silu) = pointwise::parametric<op_silu>("silu", "x * sigmoid(alpha * x)", Pointwise::kSilu);

}  // namespace mica
