#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(mul) = pointwise::binary<op_mul>("mul", "x * y", Pointwise::kMul, DimRule::kMul);

}  // namespace mica
