#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(affine) = pointwise::parametric<op_affine>("affine", "alpha * x + beta", Pointwise::kAffine);

}  // namespace mica
