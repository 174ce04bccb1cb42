#include "ops/move/copy_step.h"

namespace mica {

MICA_RUN(squeeze) = {.bind = move::bind_reshaped};

}  // namespace mica
