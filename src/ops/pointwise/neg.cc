#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(neg) = pointwise::unary_number<op_neg>("neg", "-x", Pointwise::kNeg, DimRule::kNeg);

}  // namespace mica
