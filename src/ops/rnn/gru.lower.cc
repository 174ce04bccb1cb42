#include "ops/rnn/recurrent_lower.h"

namespace mica {

MICA_LOWER(gru) = {.pack = rnn::pack_wishes};

}  // namespace mica
