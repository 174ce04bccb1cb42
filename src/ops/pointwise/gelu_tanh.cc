#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(gelu_tanh) = pointwise::unary<op_gelu_tanh>("gelu_tanh",
                                                    "x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2",
                                                    Pointwise::kGeluTanh);

}  // namespace mica
