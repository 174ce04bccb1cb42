#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(selu) = pointwise::parametric<op_selu>("selu", "beta * x, or beta * alpha * (e^x - 1) up to 0",
                                               Pointwise::kSelu);

}  // namespace mica
