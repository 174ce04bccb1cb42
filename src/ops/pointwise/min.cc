#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(min) = pointwise::binary<op_min>("min", "the smaller of x and y; NaN when one is", Pointwise::kMin,
                                         DimRule::kMin);

}  // namespace mica
