#include "ops/pointwise/bits_op.h"

namespace mica {

MICA_OP(bit_and) = pointwise::bitwise(
    [](RunScope& scope) { return pointwise::refer_bits(scope, [](uint64_t x, uint64_t y) { return x & y; }); },
    "bit_and", "bits set in both; of booleans: and");

}  // namespace mica
