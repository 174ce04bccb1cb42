#include "ops/pointwise/compare_op.h"

namespace mica {

MICA_OP(equal) = pointwise::comparison<pointwise::Relation::kEqual>("equal", "x == y, bool; NaN equals nothing");

}  // namespace mica
