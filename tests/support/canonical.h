// Graphs as text without names, in an order of their own: two graphs that compute the same by the same nodes print
// alike.
#pragma once
#include <string>

#include "ir/graph.h"

namespace mica::support {

std::string canonical_text(const Graph& graph);

}  // namespace mica::support
