#include "ops/move/reshaped_run.h"

namespace mica {

MICA_RUN(unsqueeze) = {.bind = move::bind_reshaped};

}  // namespace mica
