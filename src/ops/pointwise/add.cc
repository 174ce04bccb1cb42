#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(add) = pointwise::binary<op_add>("add", "x + y", Pointwise::kAdd, DimRule::kAdd);

}  // namespace mica
