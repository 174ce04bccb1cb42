#include "ops/reduce/softmax_run.h"

namespace mica {

MICA_RUN(softmax) = {.bind = [](BindScope& scope) { return reduce::bind_softmax(scope, false); }};

}  // namespace mica
