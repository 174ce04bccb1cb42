#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(floor) = pointwise::unary_number<op_floor>("floor", "largest whole number not above x", Pointwise::kFloor);

}  // namespace mica
