// Checks the tables of a tree ensemble, so that walks need none.
#pragma once
#include "ops/ml/tree_ensemble.h"
#include "types/op.h"

namespace mica::trees {

struct TableSizes {
  int64_t nodes, roots, weights, members, features, targets;
};

inline Status check_node(const int64_t* row, int64_t node, const TableSizes& s) {
  const int64_t mode = row[kMode];
  MICA_CHECK(mode >= 0 && mode <= kLeaf, kBadValue, "node {} has the mode {}", node, mode);
  if (mode == kLeaf) {
    MICA_CHECK(row[kTrue] >= 0 && row[kTrue] <= row[kFalse] && row[kFalse] <= s.weights, kBadValue,
               "leaf {} has the weights {} to {} of {}", node, row[kTrue], row[kFalse], s.weights);
    return {};
  }
  for (int side : {kTrue, kFalse})
    MICA_CHECK(row[side] > node && row[side] < s.nodes, kBadValue, "node {} leads to {} of {}", node, row[side],
               s.nodes);
  MICA_CHECK(row[kFeature] >= 0 && row[kFeature] < s.features, kBadValue, "node {} asks for feature {} of {}", node,
             row[kFeature], s.features);
  MICA_CHECK(
      mode != kMember || (row[kMembers] >= 0 && row[kMembers] <= row[kMembersEnd] && row[kMembersEnd] <= s.members),
      kBadValue, "node {} has the members {} to {} of {}", node, row[kMembers], row[kMembersEnd], s.members);
  return {};
}

inline Status check_tables(const int64_t* nodes, const int64_t* roots, const int64_t* targets, const TableSizes& s) {
  for (int64_t i = 0; i < s.nodes; ++i) MICA_TRY_STATUS(check_node(nodes + i * kColumns, i, s));
  for (int64_t i = 0; i < s.roots; ++i)
    MICA_CHECK(roots[i] >= 0 && roots[i] < s.nodes, kBadValue, "tree {} begins at node {} of {}", i, roots[i], s.nodes);
  for (int64_t i = 0; i < s.weights; ++i)
    MICA_CHECK(targets[i] >= 0 && targets[i] < s.targets, kBadValue, "weight {} is for target {} of {}", i, targets[i],
               s.targets);
  return {};
}

}  // namespace mica::trees
