#include "ops/pool/pool.lower.h"

namespace mica {

MICA_LOWER(average_pool) = {.keeps_planes = pool::keeps_planes<AveragePool>};

}  // namespace mica
