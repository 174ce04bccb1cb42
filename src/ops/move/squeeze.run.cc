#include "ops/move/reshaped_run.h"

namespace mica {

MICA_RUN(squeeze) = {.bind = move::bind_reshaped};

}  // namespace mica
