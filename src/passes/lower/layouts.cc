#include "passes/lower/layouts.h"

#include <algorithm>

namespace mica {
namespace {

bool is_image(const Value* value) { return value && value->type.is_tensor() && value->type.shape.rank >= 3; }

// An operator of any order has its full-rank operands all in one order: channels last when the first of them is.
bool passes_on(const Node& node, const std::unordered_set<const Value*>& chosen) {
  if (node.op->layout != LayoutRule::kAny || node.outputs.empty() || !is_image(node.outputs[0])) return false;
  const int rank = node.outputs[0]->type.shape.rank;
  return std::ranges::any_of(node.inputs, [&](const Value* v) { return is_image(v) && v->type.shape.rank == rank && chosen.contains(v); });
}

}  // namespace

std::unordered_set<const Value*> channels_last_values(const Graph& graph) {
  std::unordered_set<const Value*> chosen;
  const std::unordered_set<const Value*> ports(graph.outputs.begin(), graph.outputs.end());
  for (const auto& node : graph.nodes) {
    if (node->op->layout != LayoutRule::kChannelsLast && !passes_on(*node, chosen)) continue;
    for (const Value* output : node->outputs)
      if (is_image(output) && !ports.contains(output)) chosen.insert(output);
  }
  return chosen;
}

}  // namespace mica
