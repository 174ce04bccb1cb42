#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(sub) = pointwise::binary<op_sub>("sub", "x - y", Pointwise::kSub, DimRule::kSub);

}  // namespace mica
