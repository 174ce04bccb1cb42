#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_OP(div) = pointwise::binary<op_div>("div", "x / y; integers towards zero, by zero 0", Pointwise::kDiv,
                                         DimRule::kDiv);

}  // namespace mica
