// What a region takes from outside in the simplest way: values that a loop only hands from turn to turn are used from
// outside, and constants from outside are the region's own. Loops made from other frameworks' carry all their weights.
#include <algorithm>

#include "ir/match.h"
#include "ops/control/loop.h"
#include "ops/control/scan.h"
#include "passes/declutter/region_layout.h"
#include "passes/declutter/simplify.h"

namespace mica {
MICA_DECLARE_OP(cond);
MICA_DECLARE_OP(identity);
MICA_DECLARE_OP(loop);
MICA_DECLARE_OP(scan);

bool region_layout(Node& node, RegionLayout& layout) {
  if (node.op == &op_cond) {
    layout = {.lead = 1};
  } else if (node.op == &op_loop) {
    const auto carried = static_cast<size_t>(node.attributes<Loop>().carried);
    layout = {.first = 2, .first_result = 1, .carried = carried, .captures = 2 + carried};
  } else if (node.op == &op_scan) {
    const auto& a = node.attributes<Scan>();
    if (a.batched) return false;  // a region takes one element of the batch
    const auto states = static_cast<size_t>(a.states);
    layout = {.carried = states, .captures = states + static_cast<size_t>(a.scanned)};
  } else {
    return false;
  }
  return std::ranges::all_of(node.regions, [&](const auto& region) {
    return region->inputs.size() + layout.lead == node.inputs.size() && region->states.empty() &&
           region->outputs.size() >= layout.first_result + layout.carried;
  });
}

namespace {

const Value* behind_copies(const Value* v) {
  while (v && v->producer && v->producer->op == &op_identity) v = v->producer->inputs[0];
  return v;
}

template <class T>
void erase_at(std::vector<T>& list, size_t i) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
}
template <class T>
void move_to_end(std::vector<T>& list, size_t i) {
  std::rotate(list.begin() + static_cast<std::ptrdiff_t>(i), list.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              list.end());
}

// Carried value k comes out of each turn as it went in: it is the operand of the first turn.
bool unchanged(const Graph& graph, const Readers& readers, const Node& node, const RegionLayout& layout, size_t k) {
  const Graph& region = *node.regions[0];
  const Value* parameter = region.inputs[layout.first + k];
  const Value* operand = node.inputs[layout.first + k + layout.lead];
  const Value* result = k < node.outputs.size() ? node.outputs[k] : nullptr;
  if (!operand || behind_copies(region.outputs[layout.first_result + k]) != parameter) return false;
  return !result || (!readers.kept(result) &&
                     (std::ranges::find(graph.outputs, result) == graph.outputs.end() || operand->type.is_tensor()));
}

void capture(Graph& graph, Readers& readers, Node& node, const RegionLayout& layout, size_t k) {
  Graph& region = *node.regions[0];
  const size_t at = layout.first + k;
  if (k < node.outputs.size()) {
    if (Value* result = node.outputs[k]) {
      readers.move(result, node.inputs[at]);
      result->producer = nullptr;
      std::ranges::replace(graph.outputs, result, node.inputs[at]);
    }
    erase_at(node.outputs, k);
    for (size_t i = k; i < node.outputs.size(); ++i)
      if (node.outputs[i]) node.outputs[i]->output = static_cast<int>(i);
  }
  move_to_end(node.inputs, at);
  move_to_end(region.inputs, at);
  move_to_end(region.input_names, at);
  erase_at(region.outputs, layout.first_result + k);
  erase_at(region.output_names, layout.first_result + k);
  if (node.op == &op_loop)
    --node.attributes<Loop>().carried;
  else
    --node.attributes<Scan>().states;
}

void sink_constant(Node& node, const RegionLayout& layout, size_t i) {
  const Value& constant = *node.inputs[i + layout.lead];
  for (const auto& region : node.regions) {
    Value* parameter = region->inputs[i];
    Value* own = region->add_constant(constant.constant, parameter->name);
    own->quant = constant.quant;
    for (const auto& inner : region->nodes) std::ranges::replace(inner->inputs, parameter, own);
    std::ranges::replace(region->outputs, parameter, own);
    erase_at(region->inputs, i);
    erase_at(region->input_names, i);
  }
  erase_at(node.inputs, i + layout.lead);
}

}  // namespace

int64_t settle_regions(Graph& graph, const DeclutterOptions&) {
  Readers readers(graph);
  int64_t changed = 0;
  for (const auto& node : graph.nodes) {
    RegionLayout layout;
    if (!region_layout(*node, layout)) continue;
    for (size_t k = layout.carried; k-- > 0;) {
      if (!unchanged(graph, readers, *node, layout, k)) continue;
      capture(graph, readers, *node, layout, k);
      --layout.carried;
      --layout.captures;
      ++changed;
    }
    for (size_t i = node->inputs.size() - layout.lead; i-- > layout.captures;) {
      const Value* v = node->inputs[i + layout.lead];
      if (!v || !v->is_constant()) continue;
      sink_constant(*node, layout, i);
      ++changed;
    }
  }
  if (changed) infer_again(graph);
  return changed;
}

}  // namespace mica
