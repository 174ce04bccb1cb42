#include "ops/move/reshaped_run.h"

namespace mica {

MICA_RUN(flatten) = {.bind = move::bind_reshaped};

}  // namespace mica
