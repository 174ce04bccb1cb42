// Inference over graph nodes: what `evaluate` finds goes into the values.
#include <cstring>

#include "ir/builder.h"
#include "types/evaluate.h"

namespace mica {
namespace {

// Memory that lives as long as one inference. The runtime's code asks for it: nothing is thrown.
class Blocks {
 public:
  Blocks() = default;
  Blocks(const Blocks&) = delete;
  ~Blocks() {
    for (void* block : blocks_) deallocate(block);
  }
  void* allocate(size_t bytes) {
    void* block = mica::allocate(bytes, kCacheLine);
    if (!block || blocks_.push_back(block).ok()) return block;
    deallocate(block);
    return nullptr;
  }

 private:
  Vector<void*> blocks_;
};

InferValue knowledge(const Value* value) {
  InferValue made;
  if (!value) return made;
  made.present = true;
  made.type = value->type;
  made.values = value->values;
  made.has_values = value->has_values;
  made.constant = value->contents();
  return made;
}

ConstantPtr contents_of(const InferValue& value) {
  return value.constant ? Constant::own(value_or_throw(OwnedTensor::copy_of(*value.constant))) : nullptr;
}

bool same_contents(const ConstantPtr& a, const ConstantPtr& b) {
  if (!a || !b) return a == b;
  if (a->view.dtype != b->view.dtype || !std::ranges::equal(a->view.shape(), b->view.shape())) return false;
  if (a->view.dtype == DType::kString) {
    const Elements left(a->view), right(b->view);
    for (int64_t i = 0; i < a->view.count(); ++i)
      if (left.text(i).view() != right.text(i).view()) return false;
    return true;
  }
  const auto bytes = static_cast<size_t>(dense_bytes(a->view.dtype, a->view.shape()));
  return bytes == 0 || std::memcmp(a->view.data, b->view.data, bytes) == 0;
}

// Stores what was found; true when it differs from what stood there.
bool settle(Value& value, const InferValue& found) {
  ConstantPtr known = contents_of(found);
  const std::span<const Dim> values = found.has_values ? found.values : std::span<const Dim>();
  const bool changed = !(value.type == found.type) || value.has_values != found.has_values ||
                       !std::ranges::equal(value.values, values) || !same_contents(value.known, known);
  value.type = found.type;
  value.has_values = found.has_values;
  value.values.assign(values.begin(), values.end());
  value.known = std::move(known);
  return changed;
}

// Symbols that this inference made for data-dependent dimensions where an earlier one had made some already: the older
// stay.
class SymbolKeeper {
 public:
  explicit SymbolKeeper(DimTable& dims) : dims_(dims), first_(dims.symbols()) {}

  void match(Dim made, Dim before) {
    if (made.is_fixed() || before.is_fixed() || made == before || !dims_.is_symbol(made) || !dims_.is_symbol(before))
      return;
    for (size_t i = first_; i < dims_.symbols(); ++i)
      if (dims_.symbol_dim(i) == made && is_older_data_symbol(before)) {
        if (to_.empty())
          for (size_t k = 0; k < dims_.symbols(); ++k) to_.push_back(dims_.symbol_dim(k));
        to_[i] = before;
      }
  }
  void match(const Shape& made, const Shape& before) {
    if (made.rank != before.rank) return;
    for (int i = 0; i < made.rank; ++i) match(made[i], before[i]);
  }
  void match(std::span<const Dim> made, std::span<const Dim> before) {
    if (made.size() != before.size()) return;
    for (size_t i = 0; i < made.size(); ++i) match(made[i], before[i]);
  }
  bool any() const { return !to_.empty(); }
  Dim apply(Dim d) { return d.is_fixed() ? d : dims_.substitute(d, to_); }

 private:
  bool is_older_data_symbol(Dim d) const {
    for (size_t i = 0; i < first_; ++i)
      if (dims_.symbol_dim(i) == d) return dims_.symbol_info(i).kind == SymbolKind::kData;
    return false;
  }
  DimTable& dims_;
  size_t first_;
  std::vector<Dim> to_;
};

void keep_symbols(SymbolKeeper& keeper, const Node& node, std::span<InferValue> found,
                  std::vector<std::vector<Dim>>& store) {
  for (size_t i = 0; i < found.size(); ++i)
    if (const Value* before = node.outputs[i]) {
      keeper.match(found[i].type.shape, before->type.shape);
      if (found[i].has_values && before->has_values) keeper.match(found[i].values, before->values);
    }
  if (!keeper.any()) return;
  store.resize(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    for (int k = 0; k < found[i].type.shape.rank; ++k) found[i].type.shape[k] = keeper.apply(found[i].type.shape[k]);
    for (Dim d : found[i].values) store[i].push_back(keeper.apply(d));
    found[i].values = store[i];
  }
}

class NodeScope final : public InferScope {
 public:
  NodeScope(Graph& graph, Node& node) : node_(node), regions_(node.regions.size()) {
    for (const Value* value : node.inputs) in_.push_back(knowledge(value));
    out_.resize(node.outputs.size());
    for (size_t i = 0; i < out_.size(); ++i) out_[i].present = node.outputs[i] != nullptr;
    inputs = in_;
    outputs = out_;
    attributes_blob = node.attributes_blob.data();
    table = graph.dims.get();
  }
  int regions() const override { return static_cast<int>(regions_.size()); }
  void* allocate(size_t bytes) override { return blocks_.allocate(bytes); }

  // Infers a copy, so that a trial with other types leaves no trace; the last one is what `finish_regions` keeps.
  Status infer_region(int region, std::span<const InferValue> in, std::span<InferValue> out) override {
    MICA_CHECK(region >= 0 && region < regions(), kInternal, "no region {}", region);
    const Graph& body = *node_.regions[static_cast<size_t>(region)];
    MICA_CHECK(in.size() == body.inputs.size(), kBadModel, "a region takes {} values, given {}", body.inputs.size(),
               in.size());
    MICA_CHECK(out.size() <= body.outputs.size(), kBadModel, "a region gives {} values, {} wanted", body.outputs.size(),
               out.size());
    try {
      auto trial = clone(body);
      for (size_t i = 0; i < in.size(); ++i) set_input(*trial->inputs[i], in[i]);
      infer_graph(*trial);
      for (size_t i = 0; i < out.size(); ++i) {
        const bool wanted = out[i].present;
        out[i] = knowledge(trial->outputs[i]);
        out[i].present = wanted;
      }
      trials_.push_back(std::move(trial));
      regions_[static_cast<size_t>(region)] = trials_.back().get();
    } catch (const Failure& failure) {
      return failure.error->copy();
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
    return {};
  }

  // Symbols that the last inference made for what a region is given, where an earlier one had made some.
  void match_regions(SymbolKeeper& keeper) const {
    for (size_t r = 0; r < regions_.size(); ++r)
      for (size_t i = 0; regions_[r] && i < regions_[r]->inputs.size(); ++i)
        keeper.match(regions_[r]->inputs[i]->type.shape, node_.regions[r]->inputs[i]->type.shape);
  }
  void finish_regions(SymbolKeeper& keeper) {
    for (size_t i = 0; i < regions_.size(); ++i)
      if (regions_[i]) adopt(*node_.regions[i], *regions_[i], keeper);
  }

 private:
  static void set_input(Value& value, const InferValue& given) {
    if (value.constant) return;
    value.type = given.type;
    value.has_values = given.has_values;
    value.values.assign(given.values.begin(), given.values.end());
    value.known = contents_of(given);
  }
  // Types and knowledge of a copy go to the original, value by value.
  static void adopt(Graph& to, const Graph& from, SymbolKeeper& keeper) {
    for (size_t i = 0; i < to.value_pool.size(); ++i) {
      Value& value = to.value_pool[i];
      const Value& better = from.value_pool[i];
      value.type = better.type;
      value.has_values = better.has_values;
      value.values = better.values;
      value.known = better.known;
      if (!keeper.any()) continue;
      for (int k = 0; k < value.type.shape.rank; ++k) value.type.shape[k] = keeper.apply(value.type.shape[k]);
      for (Dim& d : value.values) d = keeper.apply(d);
    }
    for (size_t i = 0; i < to.nodes.size(); ++i)
      for (size_t k = 0; k < to.nodes[i]->regions.size(); ++k)
        adopt(*to.nodes[i]->regions[k], *from.nodes[i]->regions[k], keeper);
  }

  Node& node_;
  std::vector<InferValue> in_, out_;
  Blocks blocks_;
  std::vector<std::unique_ptr<Graph>> trials_;
  std::vector<const Graph*> regions_;
};

void infer(Graph& graph, Node& node, bool* changed) {
  NodeScope scope(graph, node);
  SymbolKeeper keeper(*graph.dims);
  ok_or_throw(evaluate(*node.op, scope));
  ok_or_throw(graph.dims->status().copy());
  std::vector<std::vector<Dim>> store;
  scope.match_regions(keeper);
  keep_symbols(keeper, node, scope.outputs, store);
  scope.finish_regions(keeper);
  bool any = false;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i]) any |= settle(*node.outputs[i], scope.outputs[i]);
  if (changed) *changed = any;
}

}  // namespace

void infer_node(Graph& graph, Node& node, bool* changed) {
  try {
    infer(graph, node, changed);
  } catch (const Failure& failure) {
    throw Failure(failure.error->copy().at(node.name.empty()
                                               ? std::string(node.op->name)
                                               : "node `" + node.name + "` (" + std::string(node.op->name) + ")"));
  }
}

void infer_graph(Graph& graph) {
  for (const auto& node : graph.nodes) infer_node(graph, *node);
}

}  // namespace mica
