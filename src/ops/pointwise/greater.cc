#include "ops/pointwise/compare_op.h"

namespace mica {

MICA_OP(greater) = pointwise::comparison<pointwise::Relation::kGreater>("greater", "x > y, bool");

}  // namespace mica
