// Attributes of decision trees, the form of their tables, and the way from a root to a leaf.
//
// A node is a row of seven numbers, its children stand in later rows (so that every way ends), and a threshold:
//   mode, feature, row when true, row when false, whether NaN counts as true, first member, end of members.
// Of a leaf the third and fourth number are the first and the end of its weights. Modes: 0 x <= threshold, 1 <, 2 >=,
// 3 >, 4 ==, 5 !=, 6 x is one of the members, 7 a leaf.
#pragma once
#include <cmath>

#include "types/attr.h"

namespace mica {

enum class TreeAggregate : uint8_t { kAverage, kSum, kMin, kMax };
inline constexpr std::string_view kTreeAggregateNames[] = {"average", "sum", "min", "max"};
constexpr std::span<const std::string_view> names_of(TreeAggregate) { return kTreeAggregateNames; }

// Inputs: x [batch, features], nodes [n, 7], thresholds [n], roots, targets of weights, weights, members.
struct TreeEnsemble {
  int64_t targets = 1;
  TreeAggregate aggregate = TreeAggregate::kSum;
  template <class V>
  void visit(V&& v) {
    v("targets", targets, "columns of the result");
    v("aggregate", aggregate, "what becomes of the weights that the trees give a target");
  }
};

namespace trees {

inline constexpr int64_t kColumns = 7, kMember = 6, kLeaf = 7;
enum Column { kMode, kFeature, kTrue, kFalse, kMissing, kMembers, kMembersEnd };

// The tables as dense arrays. T is the type that elements of x and thresholds are compared in.
template <class T>
struct Tables {
  const int64_t *nodes, *roots, *targets;
  const T *thresholds, *weights, *members;
  int64_t root_count, target_count;
  TreeAggregate aggregate;
};

template <class T>
[[gnu::noinline]] bool goes_true(const Tables<T>& t, int64_t node, T x) {
  const int64_t* row = t.nodes + node * kColumns;
  if (std::isnan(x) && row[kMissing]) return true;
  const T threshold = t.thresholds[node];
  switch (row[kMode]) {
    case 0: return x <= threshold;
    case 1: return x < threshold;
    case 2: return x >= threshold;
    case 3: return x > threshold;
    case 4: return x == threshold;
    case 5: return x != threshold;
    default: break;
  }
  for (int64_t i = row[kMembers]; i < row[kMembersEnd]; ++i)
    if (t.members[i] == x) return true;
  return false;
}

// What the weights [first, end) of a leaf add to a row of the result.
template <class T>
[[gnu::noinline]] void add_weights(const Tables<T>& t, int64_t first, int64_t end, double* sums, bool* seen) {
  for (int64_t i = first; i < end; ++i) {
    const int64_t k = t.targets[i];
    const auto weight = static_cast<double>(t.weights[i]);
    const bool is_first = !seen[k];
    seen[k] = true;
    if (t.aggregate == TreeAggregate::kMin)
      sums[k] = is_first || weight < sums[k] ? weight : sums[k];
    else if (t.aggregate == TreeAggregate::kMax)
      sums[k] = is_first || weight > sums[k] ? weight : sums[k];
    else
      sums[k] += weight;
  }
}
[[gnu::noinline]] inline void begin_row(int64_t targets, double* sums, bool* seen) {
  for (int64_t k = 0; k < targets; ++k) sums[k] = 0, seen[k] = false;
}
[[gnu::noinline]] inline void finish_row(TreeAggregate aggregate, int64_t roots, int64_t targets, double* sums) {
  for (int64_t k = 0; aggregate == TreeAggregate::kAverage && k < targets; ++k) sums[k] /= static_cast<double>(roots);
}

// One row of x to one row of the result. `number(i)` is feature i; `seen` has a flag per target.
template <class T, class Number>
void evaluate_row(const Tables<T>& t, const Number& number, double* sums, bool* seen) {
  begin_row(t.target_count, sums, seen);
  for (int64_t r = 0; r < t.root_count; ++r) {
    int64_t node = t.roots[r];
    const int64_t* row = t.nodes + node * kColumns;
    for (; row[kMode] != kLeaf; row = t.nodes + node * kColumns)
      node = row[goes_true(t, node, number(row[kFeature])) ? kTrue : kFalse];
    add_weights(t, row[kTrue], row[kFalse], sums, seen);
  }
  finish_row(t.aggregate, t.root_count, t.target_count, sums);
}

}  // namespace trees
}  // namespace mica
