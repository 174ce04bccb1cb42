// A graph as text that people read and the parser reads back.
//
//   graph "name"
//   symbol N input
//   input %x: f32[N,3,8,8] "image"
//   constant %w: f32[4,3,1,1] = base64 "..."
//   %y: f32[N,4,8,8] = conv(%x, %w, _) strides=[2,2]  # name of the source node
//     region "body" ... end                            (of operators with regions, before the next node)
//   output %y "scores"
//   end
//
// One statement a line; indentation has no meaning. `_` stands for an operand that is left out or a result that is not
// wanted. A value's name is `%name`, `%"any text"`, with `@2` behind it for a second value of the name, `%@1` for one
// without a name. Other statements: symbol NAME input|bounded MAX|data; metadata "key" "value"; keep "value"; state
// "output" "input".
#pragma once
#include "ir/graph.h"

namespace mica {

struct TextOptions {
  bool contents =
      false;  // constants in full; otherwise long ones are shown by their digest, and the text does not parse
  int64_t short_list = 8;  // constants of up to so many elements are always shown
};

// Throws Failure when memory is short.
std::string to_text(const Graph& graph, const TextOptions& options = {});

// The inverse: the same values, nodes, types, names and symbols. What is known of values beyond types is inferred anew.
// The type of a node's result may be left out, then it is inferred too. Throws Failure: kBadText naming the line, or
// what inference finds.
Graph graph_from_text(std::string_view text);

}  // namespace mica
