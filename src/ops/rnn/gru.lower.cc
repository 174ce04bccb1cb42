#include "ops/rnn/recurrent.lower.h"

namespace mica {

MICA_LOWER(gru) = {.pack = rnn::pack_wishes};

}  // namespace mica
