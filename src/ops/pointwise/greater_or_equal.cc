#include "ops/pointwise/compare_op.h"

namespace mica {

MICA_OP(greater_or_equal) = pointwise::comparison<pointwise::Relation::kGreaterOrEqual>("greater_or_equal",
                                                                                        "x >= y, bool");

}  // namespace mica
