#include "ops/pool/pool.lower.h"

namespace mica {

MICA_LOWER(max_pool) = {.keeps_planes = pool::keeps_planes<MaxPool>};

}  // namespace mica
