#include "ops/rnn/recurrent.lower.h"

namespace mica {

MICA_LOWER(rnn) = {.pack = rnn::pack_wishes};

}  // namespace mica
