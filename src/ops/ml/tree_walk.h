// Ways from roots to leaves, several at a time: a way is a chain of loads, each of which waits for the one before it,
// and of branches that nothing foresees. Eight ways side by side, without branches, wait together.
//
// For forests whose nodes all compare alike, as those of most makers do; nodes have 16 bytes instead of 64.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>

#include "ops/ml/tree_ensemble.h"

namespace mica::trees {

struct WalkNode {
  float threshold;  // of a leaf: the bits of its first weight's place
  int32_t feature;  // of a leaf: 0
  int32_t next[2];  // where the comparison leads that holds, and the one that does not; a leaf leads to itself
};

struct WalkForest {
  const WalkNode* nodes = nullptr;
  const int32_t* ends = nullptr;     // by node: behind a leaf's last weight
  const uint8_t* missing = nullptr;  // by node: NaN counts as true; null: nowhere
  int64_t mode = 0;                  // of all nodes, 0 to 3

  static size_t bytes(int64_t count) {
    return static_cast<size_t>(count) * (sizeof(WalkNode) + sizeof(int32_t) + sizeof(uint8_t));
  }
};

inline int32_t first_weight(const WalkNode& leaf) {
  int32_t place;
  std::memcpy(&place, &leaf.threshold, sizeof place);
  return place;
}

// The mode that all nodes but leaves have, 0 to 3; -1: they differ, compare otherwise, or are too many.
inline int64_t common_mode(const int64_t* nodes, int64_t count, int64_t weights) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (count > kMost || weights > kMost) return -1;
  int64_t mode = -1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t own = nodes[i * kColumns + kMode];
    if (own == kLeaf) continue;
    if (own > 3 || (mode >= 0 && own != mode)) return -1;
    mode = own;
  }
  return mode < 0 ? 0 : mode;
}

// Of tables that are sound and have that mode in common, in WalkForest::bytes(count) of zeroed memory.
inline WalkForest make_forest(const int64_t* nodes, const float* thresholds, int64_t count, int64_t mode,
                              void* memory) {
  auto* to = static_cast<WalkNode*>(memory);
  auto* ends = reinterpret_cast<int32_t*>(to + count);
  auto* missing = reinterpret_cast<uint8_t*>(ends + count);
  bool any = false;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* row = nodes + i * kColumns;
    const auto own = static_cast<int32_t>(i);
    if (row[kMode] == kLeaf) {
      const auto first = static_cast<int32_t>(row[kTrue]);
      to[i] = {0, 0, {own, own}};
      std::memcpy(&to[i].threshold, &first, sizeof first);
      ends[i] = static_cast<int32_t>(row[kFalse]);
      continue;
    }
    to[i] = {thresholds[i],
             static_cast<int32_t>(row[kFeature]),
             {static_cast<int32_t>(row[kTrue]), static_cast<int32_t>(row[kFalse])}};
    missing[i] = row[kMissing] != 0;
    any = any || missing[i];
  }
  return {to, ends, any ? missing : nullptr, mode};
}

inline constexpr int kWays = 8;

template <int64_t kMode>
bool holds(float x, float threshold) {
  if constexpr (kMode == 0) return x <= threshold;
  if constexpr (kMode == 1) return x < threshold;
  if constexpr (kMode == 2) return x >= threshold;
  return x > threshold;
}

// From the nodes `at` to leaves, of the features `x`.
template <int64_t kMode, bool kMissing>
void walk(const WalkForest& f, const float* const (&x)[kWays], int32_t (&at)[kWays]) {
  for (bool moved = true; moved;) {
    int32_t change = 0;
    for (int i = 0; i < kWays; ++i) {
      const WalkNode& node = f.nodes[at[i]];
      const float value = x[i][node.feature];
      bool holds_here = holds<kMode>(value, node.threshold);
      if constexpr (kMissing) holds_here |= (value != value) & (f.missing[at[i]] != 0);
      const int32_t next = node.next[holds_here ? 0 : 1];
      change |= next ^ at[i];
      at[i] = next;
    }
    moved = change != 0;
  }
}

using WalkFn = void (*)(const WalkForest&, const float* const (&x)[kWays], int32_t (&at)[kWays]);
inline WalkFn walk_fn(const WalkForest& f) {
  constexpr WalkFn kWalks[][2] = {{walk<0, false>, walk<0, true>},
                                  {walk<1, false>, walk<1, true>},
                                  {walk<2, false>, walk<2, true>},
                                  {walk<3, false>, walk<3, true>}};
  return kWalks[f.mode][f.missing != nullptr];
}

}  // namespace mica::trees
