#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(atanh) = pointwise::unary<op_atanh>("atanh", "inverse hyperbolic tangent; NaN outside -1 ... 1",
                                            Pointwise::kAtanh);

}  // namespace mica
