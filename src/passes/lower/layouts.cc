#include "passes/lower/layouts.h"

#include <algorithm>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/lower.h"
#include "ops/move/transpose.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(copy);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(transpose);

namespace {

bool is_image(const Value* value) { return value && value->type.is_tensor() && value->type.shape.rank >= 3; }

// An operator of any order has its full-rank operands all in one order: channels last when the first of them is.
bool passes_on(const Node& node, const std::unordered_set<const Value*>& chosen) {
  if (node.op->layout != LayoutRule::kAny || node.outputs.empty() || !is_image(node.outputs[0])) return false;
  const int rank = node.outputs[0]->type.shape.rank;
  return std::ranges::any_of(
      node.inputs, [&](const Value* v) { return is_image(v) && v->type.shape.rank == rank && chosen.contains(v); });
}

// One channel, or one place: both orders are the same bytes.
bool same_in_both_orders(const Shape& shape) {
  bool one_place = true;
  for (int i = 2; i < shape.rank; ++i) one_place = one_place && shape[i].is(1);
  return one_place || shape[1].is(1);
}

// An operator that wants channels last, unless its input has planes and it is better off with them.
bool wants_channels_last(const Node& node, const std::unordered_set<const Value*>& chosen) {
  if (node.op->layout != LayoutRule::kChannelsLast) return false;
  const LowerDef* def = find_row(all_lower(), node.op->name);
  const bool may_keep = def && def->keeps_planes && !node.inputs.empty() && !chosen.contains(node.inputs[0]);
  return !may_keep || !def->keeps_planes(node);
}

bool converts(const Node& node, const std::unordered_set<const Value*>& chosen) {
  if (node.inputs.empty() || node.outputs.empty() || !is_image(node.outputs[0]) || !wants_channels_last(node, chosen))
    return false;
  const Value* x = node.inputs[0];
  if (!is_image(x) || x->is_constant() || chosen.contains(x) || is_sub_byte(x->type.dtype)) return false;
  return x->type.shape.rank == node.outputs[0]->type.shape.rank && !same_in_both_orders(x->type.shape);
}

bool has_perm(const Node& node, Ints (*order)(int rank)) {
  if (node.op != &op_transpose || !is_image(node.outputs[0])) return false;
  return node.attributes<Transpose>().perm == order(node.outputs[0]->type.shape.rank);
}

// A transposition of the last axis to the channels' place: channels last, its result is its operand as it lies. And the
// way back: its operand lies as the result does.
bool brings_channels(const Node& node) { return has_perm(node, channels_first_order); }
bool takes_channels(const Node& node) { return has_perm(node, channels_last_order); }

// Emits nodes in another order: behind each one those that wait for it.
class Reorder {
 public:
  explicit Reorder(Graph& graph) : graph_(graph) {}
  void wait(size_t node) {
    waiting_[graph_.nodes[node]->inputs[0]->producer].push_back(node);
    waits_.insert(node);
  }
  void run() {
    if (waits_.empty()) return;
    if (const auto first = waiting_.find(nullptr); first != waiting_.end())
      for (size_t i : first->second) emit(i);
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (!waits_.contains(i)) emit(i);
    graph_.nodes = std::move(order_);
  }

 private:
  void emit(size_t i) {
    std::vector<size_t> next{i};
    while (!next.empty()) {
      const size_t at = next.back();
      next.pop_back();
      const auto found = waiting_.find(graph_.nodes[at].get());
      order_.push_back(std::move(graph_.nodes[at]));
      if (found != waiting_.end()) next.insert(next.end(), found->second.rbegin(), found->second.rend());
    }
  }

  Graph& graph_;
  std::unordered_map<const Node*, std::vector<size_t>> waiting_;  // by what makes their first operand; null: nothing
  std::unordered_set<size_t> waits_;
  std::vector<std::unique_ptr<Node>> order_;
};

}  // namespace

void view_channels_early(Graph& graph) {
  std::unordered_set<const Value*> no_images, no_terms;  // read by others than such transpositions, than sums
  for (const auto& node : graph.nodes) {
    if (!brings_channels(*node)) no_images.insert(node->inputs.begin(), node->inputs.end());
    if (node->op != &op_add) no_terms.insert(node->inputs.begin(), node->inputs.end());
  }
  for (const Value* output : graph.outputs) {
    no_images.insert(output);
    no_terms.insert(output);
  }
  Reorder order(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = *graph.nodes[i];
    const bool reshapes = node.op == &op_reshape && node.inputs[1]->is_constant();
    if (brings_channels(node) || (reshapes && !no_images.contains(node.outputs[0])) ||
        (takes_channels(node) && !no_terms.contains(node.outputs[0])))
      order.wait(i);
  }
  order.run();
}

int64_t share_conversions(Graph& graph, std::unordered_set<const Value*>& chosen) {
  std::unordered_map<const Value*, int> wanted;
  for (const auto& node : graph.nodes)
    if (converts(*node, chosen)) ++wanted[node->inputs[0]];
  std::unordered_map<const Value*, Value*> converted;
  Builder build(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = *graph.nodes[i];
    if (!converts(node, chosen) || wanted[node.inputs[0]] < 2) continue;
    Value*& copy = converted[node.inputs[0]];
    if (!copy) {
      build.insert_at(i++);
      build.set_name(node.inputs[0]->name);
      copy = build.one(op_copy, {node.inputs[0]});
      chosen.insert(copy);
    }
    node.inputs[0] = copy;
  }
  return static_cast<int64_t>(converted.size());
}

std::unordered_set<const Value*> channels_last_values(const Graph& graph) {
  std::unordered_set<const Value*> chosen;
  const std::unordered_set<const Value*> ports(graph.outputs.begin(), graph.outputs.end());
  std::unordered_set<const Value*> wanted;
  const auto made_last = [](const Value* v) {
    return is_image(v) && v->producer && v->producer->op->layout == LayoutRule::kChannelsLast;
  };
  for (const auto& node : graph.nodes) {
    if (node->op->layout == LayoutRule::kChannelsLast && !node->inputs.empty()) wanted.insert(node->inputs[0]);
    if (node->op->layout == LayoutRule::kAny && std::ranges::any_of(node->inputs, made_last))
      wanted.insert(node->inputs.begin(), node->inputs.end());
  }
  for (const auto& node : graph.nodes) {
    const bool brought = brings_channels(*node) && wanted.contains(node->outputs[0]);
    if (!brought && !wants_channels_last(*node, chosen) && !passes_on(*node, chosen)) continue;
    for (const Value* output : node->outputs)
      if (is_image(output) && !ports.contains(output)) chosen.insert(output);
  }
  return chosen;
}

}  // namespace mica
