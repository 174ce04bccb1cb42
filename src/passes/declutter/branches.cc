// A branch whose condition is known: its region's nodes take the place of the `cond` node.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/match.h"
#include "passes/declutter/simplify.h"

namespace mica {
MICA_DECLARE_OP(cond);

namespace {

constexpr int kElse = 1;

// The region that is taken, or null when that is not known or names that must exist would go.
std::unique_ptr<Graph>* taken(const Graph& graph, Node& node) {
  if (node.op != &op_cond || node.regions.size() != 2) return nullptr;
  const TensorView* known = node.inputs[0]->contents();
  if (!known || known->count() != 1) return nullptr;
  std::unique_ptr<Graph>& region = node.regions[Elements(*known).integer(0) != 0 ? 0 : kElse];
  const auto kept = [&](const Value* v) { return v && std::ranges::find(graph.keep, v->name) != graph.keep.end(); };
  const bool fits = region->keep.empty() && region->states.empty() && region->inputs.size() + 1 == node.inputs.size() &&
                    node.outputs.size() <= region->outputs.size() && std::ranges::none_of(node.outputs, kept);
  return fits ? &region : nullptr;
}

using Renamed = std::unordered_map<const Value*, Value*>;

// Moves a region's nodes to `list`, their values to `graph`.
void splice(Graph& graph, Graph& region, Renamed& renamed, std::vector<std::unique_ptr<Node>>& list) {
  for (Value& value : region.value_pool) {
    if (renamed.contains(&value)) continue;
    Value* fresh = graph.make_value();
    *fresh = value;
    renamed[&value] = fresh;
  }
  for (auto& inner : region.nodes) {
    for (Value*& v : inner->inputs)
      if (v) v = renamed.at(v);
    for (Value*& v : inner->outputs)
      if (v) v = renamed.at(v);
    list.push_back(std::move(inner));
  }
}

}  // namespace

int64_t inline_branches(Graph& graph, const DeclutterOptions&) {
  std::vector<std::unique_ptr<Node>> list;
  Renamed results;  // of branches that are inlined
  const auto resolve = [&](Value* v) {
    for (auto found = results.find(v); found != results.end(); found = results.find(v)) v = found->second;
    return v;
  };
  int64_t inlined = 0;
  for (auto& node : graph.nodes) {
    for (Value*& v : node->inputs) v = resolve(v);
    std::unique_ptr<Graph>* region = taken(graph, *node);
    if (!region) {
      list.push_back(std::move(node));
      continue;
    }
    Renamed renamed;
    for (size_t i = 0; i < (*region)->inputs.size(); ++i) renamed[(*region)->inputs[i]] = node->inputs[i + 1];
    splice(graph, **region, renamed, list);
    for (size_t i = 0; i < node->outputs.size(); ++i)
      if (node->outputs[i]) results[node->outputs[i]] = renamed.at((*region)->outputs[i]);
    ++inlined;
  }
  graph.nodes = std::move(list);
  for (Value*& v : graph.outputs) v = resolve(v);
  if (inlined) infer_again(graph);
  return inlined;
}

}  // namespace mica
