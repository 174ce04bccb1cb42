#include "ops/move/reshaped_run.h"

namespace mica {

MICA_RUN(reshape) = {.bind = move::bind_reshaped};

}  // namespace mica
