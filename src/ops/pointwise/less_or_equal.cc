#include "ops/pointwise/compare_op.h"

namespace mica {

MICA_OP(less_or_equal) = pointwise::comparison<pointwise::Relation::kLessOrEqual>("less_or_equal", "x <= y, bool");

}  // namespace mica
