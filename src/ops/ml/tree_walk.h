// Ways from roots to leaves, several at a time: a way is a chain of loads, each of which waits for the one before it,
// and of branches that nothing foresees. Eight ways side by side, without branches, wait together.
//
// For forests whose nodes all ask x < threshold or its contrary, or all x <= threshold or its contrary, as those of
// most makers do; nodes have 16 or 24 bytes instead of 64.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>

#include "ops/ml/tree_ensemble.h"

namespace mica::trees {

template <class T>
struct WalkNode {
  T threshold;      // of a leaf: its first bytes are its first weight's place
  int32_t feature;  // of a leaf: 0
  int32_t next[2];  // where x < threshold (or <=) leads, and its contrary; a leaf leads to itself
};

struct WalkForest {
  const void* nodes = nullptr;       // WalkNode<T>
  const int32_t* ends = nullptr;     // by node: behind a leaf's last weight
  const uint8_t* missing = nullptr;  // by node: NaN goes where x < threshold leads; null: nowhere
  bool strict = false;               // nodes ask x < threshold, not <=

  template <class T>
  const WalkNode<T>& node(int64_t i) const {
    return static_cast<const WalkNode<T>*>(nodes)[i];
  }
};
template <class T>
constexpr size_t kForestBytes = sizeof(WalkNode<T>) + sizeof(int32_t) + sizeof(uint8_t);  // of a node

template <class T>
int32_t first_weight(const WalkNode<T>& leaf) {
  int32_t place;
  std::memcpy(&place, &leaf.threshold, sizeof place);
  return place;
}

constexpr bool is_strict(int64_t mode) { return mode == 1 || mode == 2; }
constexpr bool is_contrary(int64_t mode) { return mode == 2 || mode == 3; }

// Whether all nodes but leaves ask alike, and are few enough.
[[gnu::noinline]] inline bool ask_alike(const int64_t* nodes, int64_t count, int64_t weights) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  int64_t first = kLeaf, differ = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t mode = nodes[i * kColumns + kMode];
    if (mode == kLeaf) continue;
    if (first == kLeaf) first = mode;
    differ |= mode > 3 || is_strict(mode) != is_strict(first);
  }
  return !differ && count <= kMost && weights <= kMost;
}
// The contrary of what is false, as every comparison with NaN is, would be true.
template <class T>
bool any_nan(const T* thresholds, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (thresholds[i] != thresholds[i]) return true;
  return false;
}

// Of sound tables whose nodes ask alike and of numbers, in kForestBytes<T> of zeroed memory for each node.
template <class T>
WalkForest make_forest(const int64_t* nodes, const T* thresholds, int64_t count, void* memory) {
  auto* to = static_cast<WalkNode<T>*>(memory);
  auto* ends = reinterpret_cast<int32_t*>(to + count);
  auto* missing = reinterpret_cast<uint8_t*>(ends + count);
  bool any = false, strict = false;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* row = nodes + i * kColumns;
    const auto own = static_cast<int32_t>(i), yes = static_cast<int32_t>(row[kTrue]),
               no = static_cast<int32_t>(row[kFalse]);
    if (row[kMode] == kLeaf) {
      to[i] = {0, 0, {own, own}};
      std::memcpy(&to[i].threshold, &yes, sizeof yes);
      ends[i] = no;
      continue;
    }
    const bool contrary = is_contrary(row[kMode]);
    to[i] = {thresholds[i], static_cast<int32_t>(row[kFeature]), {contrary ? no : yes, contrary ? yes : no}};
    missing[i] = (row[kMissing] != 0) != contrary;
    any = any || missing[i];
    strict = is_strict(row[kMode]);
  }
  return {to, ends, any ? missing : nullptr, strict};
}

inline constexpr int kWays = 8;

// From the nodes `at` to leaves, of the features `x`.
template <class T, bool kStrict, bool kMissing>
void walk(const WalkForest& f, const T* const (&x)[kWays], int32_t (&at)[kWays]) {
  for (bool moved = true; moved;) {
    int32_t change = 0;
    for (int i = 0; i < kWays; ++i) {
      const WalkNode<T>& node = f.node<T>(at[i]);
      const T value = x[i][node.feature];
      bool holds = kStrict ? value < node.threshold : value <= node.threshold;
      if constexpr (kMissing) holds |= (value != value) & (f.missing[at[i]] != 0);
      const int32_t next = node.next[holds ? 0 : 1];
      change |= next ^ at[i];
      at[i] = next;
    }
    moved = change != 0;
  }
}

template <class T>
using WalkFn = void (*)(const WalkForest&, const T* const (&x)[kWays], int32_t (&at)[kWays]);
template <class T>
WalkFn<T> walk_fn(const WalkForest& f) {
  constexpr WalkFn<T> kWalks[][2] = {{walk<T, false, false>, walk<T, false, true>},
                                     {walk<T, true, false>, walk<T, true, true>}};
  return kWalks[f.strict][f.missing != nullptr];
}

}  // namespace mica::trees
