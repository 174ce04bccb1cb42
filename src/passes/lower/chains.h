// Runs of element-wise nodes become one node each, done in one pass over memory.
//
// Goal: what no product or convolution takes into its epilogue is read and written once. A node joins the chain of its
// operand when nobody else reads that, the result keeps its type, and a second operand broadcasts to it. A chain may
// begin or end with bytes: it then takes their cast. Non-goals: nodes that `fuse.h` gives to a leader. Cost: linear in
// nodes.
#pragma once
#include "passes/lower/fuse.h"

namespace mica {

// Rewrites the graph; returns how many chains it made. Nodes named in `fusion` stay as they are.
int64_t fuse_chains(Graph& graph, const Fusion& fusion);

}  // namespace mica
