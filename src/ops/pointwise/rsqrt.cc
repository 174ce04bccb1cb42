#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(rsqrt) = pointwise::unary<op_rsqrt>("rsqrt", "1 / sqrt(x)", Pointwise::kRsqrt);

}  // namespace mica
