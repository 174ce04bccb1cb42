#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(thresholded_relu) = pointwise::parametric<op_thresholded_relu>("thresholded_relu", "x above alpha, else 0",
                                                                       Pointwise::kThresholdedRelu);

}  // namespace mica
