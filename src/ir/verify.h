// What a graph must be, as a table of rules: the specification of the representation, run between the stages of the
// compiler.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace mica {

// What is wrong in one graph or region.
struct Violation {
  std::string_view rule;
  std::string where;  // the node or value
  std::string what;
};

// Adds violations of one graph; regions are visited by the driver. A check may rely on the rules before its own in the
// table.
struct VerifyRule {
  std::string_view name, meaning;
  void (*check)(const Graph& graph, std::vector<Violation>& found);
};
std::span<const VerifyRule> verify_rules();

// Everything that breaks the first rule that is broken, in the graph and its regions; empty for a sound graph.
std::vector<Violation> violations(const Graph& graph);

// kInternal with the first violations when the graph is not sound. `stage`: what made it ("declutter: fold-pad").
Status verify(const Graph& graph, std::string_view stage);

}  // namespace mica
