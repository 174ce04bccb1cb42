// What a loop computes in each turn from nothing that turns change is computed once, in front of it: a decoder's
// projections of what the encoder made. Only where that saves a product or a convolution, and with operators that
// cannot fail where their shapes agree, because the loop may take no turn at all.
#include <algorithm>
#include <unordered_map>

#include "passes/declutter/region_layout.h"
#include "passes/declutter/simplify.h"

namespace mica {
MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(cond);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(gather);
MICA_DECLARE_OP(gemm);
MICA_DECLARE_OP(layer_norm);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(shape);
MICA_DECLARE_OP(slice);
MICA_DECLARE_OP(squeeze);
MICA_DECLARE_OP(transpose);
MICA_DECLARE_OP(unsqueeze);

namespace {

bool is_product(const OpDef* op) { return op == &op_matmul || op == &op_gemm || op == &op_conv; }

bool may_move(const Node& node) {
  const OpDef* const kOthers[] = {&op_cast,  &op_concat,  &op_layer_norm, &op_reshape,  &op_shape,
                                  &op_slice, &op_squeeze, &op_transpose,  &op_unsqueeze};
  if (is_product(node.op) || node.op->pointwise != Pointwise::kNone || std::ranges::count(kOthers, node.op))
    return true;
  return node.op == &op_gather && node.inputs[1] && node.inputs[1]->is_constant();
}

class Mover {
 public:
  Mover(Graph& graph, Node& node, const RegionLayout& layout)
      : graph_(graph), node_(node), layout_(layout), region_(*node.regions[0]) {
    for (size_t i = layout.captures; i < region_.inputs.size(); ++i)
      if (Value* outer = node.inputs[i + layout.lead]) outside_[region_.inputs[i]] = outer;
  }

  // Returns the nodes that now stand in front of the loop, in order.
  std::vector<std::unique_ptr<Node>> run() {
    std::vector<Node*> moved;
    for (const auto& inner : region_.nodes)
      if (may_move(*inner) && is_invariant(*inner)) {
        moved.push_back(inner.get());
        for (const Value* v : inner->outputs) outside_[v] = nullptr;
      }
    if (!std::ranges::any_of(moved, [](const Node* n) { return is_product(n->op); })) return {};
    std::vector<std::unique_ptr<Node>> out;
    for (auto& inner : region_.nodes) {
      if (!std::ranges::count(moved, inner.get())) continue;
      move_outputs(*inner);
      out.push_back(std::move(inner));
    }
    std::erase(region_.nodes, nullptr);
    for (const auto& [inner, outer] : made_)
      if (is_read(inner)) capture(inner, outer);
    drop_unread();
    return out;
  }

 private:
  bool is_invariant(const Node& inner) const {
    const bool any = std::ranges::any_of(inner.inputs, [](const Value* v) { return v && !v->is_constant(); });
    return any && inner.regions.empty() && std::ranges::all_of(inner.inputs, [&](const Value* v) {
             return !v || v->is_constant() || outside_.contains(v);
           });
  }

  void move_outputs(Node& inner) {
    for (Value*& v : inner.inputs) {
      if (!v) continue;
      Value*& outer = outside_[v];
      if (!outer) outer = graph_.add_constant(v->constant, v->name), outer->quant = v->quant;
      v = outer;
    }
    for (Value*& v : inner.outputs) {
      if (!v) continue;
      Value* outer = graph_.make_value(v->type, v->name);
      outer->producer = &inner;
      outer->output = v->output;
      outside_[v] = outer;
      made_.emplace_back(v, outer);
      v = outer;
    }
  }

  // What is left in the region reads a moved result as something from outside.
  void capture(Value* inner, Value* outer) {
    Value* parameter = region_.add_input(outer->type, outer->name);
    for (const auto& n : region_.nodes) std::ranges::replace(n->inputs, inner, parameter);
    std::ranges::replace(region_.outputs, inner, parameter);
    node_.inputs.push_back(outer);
  }

  bool is_read(const Value* v) const {
    return std::ranges::count(region_.outputs, v) ||
           std::ranges::any_of(region_.nodes, [&](const auto& n) { return std::ranges::count(n->inputs, v); });
  }

  void drop_unread() {
    const auto erase = [](auto& list, size_t i) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(i)); };
    for (size_t i = region_.inputs.size(); i-- > layout_.captures;) {
      if (is_read(region_.inputs[i])) continue;
      erase(region_.inputs, i);
      erase(region_.input_names, i);
      erase(node_.inputs, i + layout_.lead);
    }
  }

  Graph& graph_;
  Node& node_;
  const RegionLayout& layout_;
  Graph& region_;
  std::unordered_map<const Value*, Value*> outside_;  // what stands outside for a value of the region
  std::vector<std::pair<Value*, Value*>> made_;
};

}  // namespace

int64_t move_invariants(Graph& graph, const DeclutterOptions&) {
  int64_t changed = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = *graph.nodes[i];
    RegionLayout layout;
    if (node.op == &op_cond || !region_layout(node, layout)) continue;
    auto moved = Mover(graph, node, layout).run();
    const auto count = moved.size();
    graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(moved.begin()),
                       std::make_move_iterator(moved.end()));
    i += count;
    changed += static_cast<int64_t>(count);
  }
  if (changed) infer_again(graph);
  return changed;
}

}  // namespace mica
