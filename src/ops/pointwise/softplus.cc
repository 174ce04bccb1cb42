#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(softplus) = pointwise::unary<op_softplus>("softplus", "log(1 + e^x)", Pointwise::kSoftplus);

}  // namespace mica
