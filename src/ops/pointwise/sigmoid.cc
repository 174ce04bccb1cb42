#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(sigmoid) = pointwise::unary<op_sigmoid>("sigmoid", "1 / (1 + e^-x)", Pointwise::kSigmoid);

}  // namespace mica
