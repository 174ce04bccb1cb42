#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(cosh) = pointwise::unary<op_cosh>("cosh", "hyperbolic cosine", Pointwise::kCosh);

}  // namespace mica
