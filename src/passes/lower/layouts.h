// Which values stand with channels innermost.
//
// Goal: operators that want channels last (convolution, pooling, resizing) get and give it, operators that take any order pass it
// on, and conversions stand only at the edges. Logical axes never change. Non-goals: blocked layouts. Cost: linear in nodes.
#pragma once
#include <unordered_set>

#include "ir/graph.h"

namespace mica {

std::unordered_set<const Value*> channels_last_values(const Graph& graph);

}  // namespace mica
