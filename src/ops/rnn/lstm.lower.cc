#include "ops/rnn/recurrent.lower.h"

namespace mica {

MICA_LOWER(lstm) = {.pack = rnn::pack_wishes};

}  // namespace mica
