// Which nodes become the epilogue of another node's stage.
//
// Goal: element-wise work on a fresh result (activation, scale, residual) is done before the result is stored. A node
// is absorbed when its operand has no other reader and is not to be kept, and the stage's operator says that it can do
// it. Non-goals: chains of element-wise nodes without such a producer. Cost: linear in nodes.
#pragma once
#include <unordered_map>

#include "ir/lower.h"

namespace mica {

struct FusedNode {
  Epilogue epilogue;             // operands: indices into `operands` plus the number of the node's own inputs
  std::vector<Value*> operands;  // second operands of binary post-operations
  std::vector<Value*> result;    // what the stage stores instead of output 0; empty when nothing was absorbed
};
struct Fusion {
  std::unordered_map<const Node*, FusedNode> stages;      // leaders
  std::unordered_map<const Node*, const Node*> absorbed;  // node → leader
};
Fusion fuse_epilogues(const Graph& graph);

}  // namespace mica
