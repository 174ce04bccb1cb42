#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(mod) = pointwise::binary<op_mod>("mod", "remainder of x / y with the sign of y", Pointwise::kMod);

}  // namespace mica
