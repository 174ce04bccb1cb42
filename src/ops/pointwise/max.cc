#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(max) = pointwise::binary<op_max>("max", "the larger of x and y; NaN when one is", Pointwise::kMax,
                                         DimRule::kMax);

}  // namespace mica
