#include "ops/reduce/softmax_run.h"

namespace mica {

MICA_RUN(log_softmax) = {.bind = [](BindScope& scope) { return reduce::bind_softmax(scope, true); }};

}  // namespace mica
