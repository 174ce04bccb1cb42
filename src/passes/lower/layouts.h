// Which values stand with channels innermost.
//
// Goal: operators that want channels last (convolution, pooling, resizing) get and give it, operators that take any
// order pass it on, and conversions stand only at the edges. Logical axes never change. Non-goals: blocked layouts.
// Cost: linear in nodes.
#pragma once
#include <unordered_set>

#include "ir/graph.h"

namespace mica {

// Tokens are seen as an image, by a reshape and a transposition of channels to their place, and images as what is added
// to tokens, as soon as they exist: these cost nothing, and would part stages that could run as one.
void view_channels_early(Graph& graph);

std::unordered_set<const Value*> channels_last_values(const Graph& graph);

// A value in source order that several operators want channels last is converted once, by a `copy` node before the
// first of them, instead of by each. `chosen` gains what it makes. Returns how many copies it made.
int64_t share_conversions(Graph& graph, std::unordered_set<const Value*>& chosen);

}  // namespace mica
