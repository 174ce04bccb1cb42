// What a rule's author did not think of: graphs that are almost those of its cases.
#pragma once
#include <string>

#include "support/random.h"

namespace mica::support {

// `text` (a graph as graph_from_text reads it) with one to three changes: an attribute, a constant's numbers or shape,
// an input's shape, a size wherever it stands, one more output, other operands, a function in between or
// behind, a node twice, another operator, another type of elements, an open dimension, an input that is constant. The
// result may be no graph any more.
std::string near_miss(const std::string& text, Random& random);

}  // namespace mica::support
