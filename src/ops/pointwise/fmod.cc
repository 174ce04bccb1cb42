#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(fmod) = pointwise::binary<op_fmod>("fmod", "remainder of x / y with the sign of x", Pointwise::kFmod);

}  // namespace mica
