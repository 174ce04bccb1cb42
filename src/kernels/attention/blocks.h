// What the choice of blocks and the kernels share; internal to the family.
#pragma once
#include <stdint.h>

namespace mica::attention {

inline constexpr int64_t kFewQueries = 4;  // below it, keys and values are read in place instead of packed
// Of queries: whole tiles of every instruction set. A causal block skips the keys behind it.
inline constexpr int64_t kMostBlockRows = 84;
// Of keys. So many scores of a tile (230 KB at most) are as fast in the second-level cache as a part of them, and fewer
// keys at a time were slower; those of a block, and their values, pass all tiles of a block of queries.
inline constexpr int64_t kMostBlockKeys = 4096;

}  // namespace mica::attention
