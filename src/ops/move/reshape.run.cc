#include "ops/move/copy_step.h"

namespace mica {

MICA_RUN(reshape) = {.bind = move::bind_reshaped};

}  // namespace mica
