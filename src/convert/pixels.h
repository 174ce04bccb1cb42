// A network that takes pictures as they are: the numbers of its recipe (docs/preprocessing.md) become operators in
// front of it.
#pragma once
#include "ir/graph.h"

namespace mica {

// The input that the recipe in the graph's metadata names becomes u8 with the channels last, and what the network had
// there (byte - mean) · scale in the recipe's layout; the recipe then says so. Throws Failure: kUsage without a recipe,
// or for an input that takes no picture of floats.
void take_pixels(Graph& graph);

}  // namespace mica
