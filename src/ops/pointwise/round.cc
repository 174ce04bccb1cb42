#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(round) = pointwise::unary_number<op_round>("round", "nearest whole number, halves to the even one",
                                                   Pointwise::kRound);

}  // namespace mica
