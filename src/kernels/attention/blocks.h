// What the choice of blocks and the kernels share; internal to the family.
#pragma once
#include <stdint.h>

namespace mica::attention {

inline constexpr int64_t kFewQueries = 4;  // below it, keys and values are read in place instead of packed

}  // namespace mica::attention
