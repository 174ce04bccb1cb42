#include "ops/pointwise/bits_op.h"

namespace mica {

MICA_OP(bit_xor) = pointwise::bitwise(
    [](RunScope& scope) { return pointwise::refer_bits(scope, [](uint64_t x, uint64_t y) { return x ^ y; }); },
    "bit_xor", "bits that differ; of booleans: exclusive or");

}  // namespace mica
