#include "ops/pointwise/compare_op.h"

namespace mica {

MICA_OP(less) = pointwise::comparison<pointwise::Relation::kLess>("less", "x < y, bool");

}  // namespace mica
