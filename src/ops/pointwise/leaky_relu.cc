#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(leaky_relu) = pointwise::parametric<op_leaky_relu>("leaky_relu", "x, or alpha * x below 0",
                                                           Pointwise::kLeakyRelu);

}  // namespace mica
