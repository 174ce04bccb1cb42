#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(clip) = pointwise::parametric<op_clip>("clip", "min(max(x, alpha), beta)", Pointwise::kClip);

}  // namespace mica
