// How the two products of a block are cut; internal to the family.
#pragma once
#include <stdint.h>

namespace mica::attention {

inline constexpr int64_t kFewQueries = 4;            // below it, keys and values are read in place instead of packed
inline constexpr int64_t kPackingFloats = 32 << 10;  // for any group of panels

// A product with `columns` columns over `depth`: panels of 16 columns that are packed together, and steps of depth.
struct Panels {
  int64_t group, depth;
};
inline Panels panels_of(int64_t columns, int64_t depth) {
  constexpr int64_t kColumns = 16, kMostDepth = 512;
  const int64_t step = depth < kMostDepth ? depth : kMostDepth;
  const int64_t all = (columns + kColumns - 1) / kColumns, room = kPackingFloats / (step * kColumns);
  return {room < all ? room : all, step};
}

}  // namespace mica::attention
