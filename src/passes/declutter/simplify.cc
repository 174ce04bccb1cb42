#include "passes/declutter/simplify.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/match.h"
#include "types/evaluate.h"

namespace mica {
namespace {

bool foldable(const Node& node) {
  if (node.op->random || !node.regions.empty() || !node.op->reference) return false;
  return std::ranges::all_of(node.inputs, [](const Value* v) { return !v || v->contents(); });
}

// Results that inference has computed already become constants.
bool fold_known(Node& node) {
  bool any = false;
  for (Value* v : node.outputs) {
    if (!v || v->constant || !v->known) return false;
    any = true;
  }
  return any;
}

void make_constant(Graph& graph, Readers& readers, Value* old, ConstantPtr contents) {
  Value* fresh = graph.add_constant(std::move(contents), old->name);
  fresh->quant = old->quant;
  readers.move(old, fresh);
  std::ranges::replace(graph.outputs, old, fresh);
}

class FoldScope final : public InferScope {
 public:
  Status infer_region(int, std::span<const InferValue>, std::span<InferValue>) override {
    return error(Code::kInternal, "a folded node has no regions");
  }
  int regions() const override { return 0; }
  void* allocate(size_t bytes) override {
    void* block = mica::allocate(bytes, kCacheLine);
    if (!block || blocks_.push_back(block).ok()) return block;
    deallocate(block);
    return nullptr;
  }
  ~FoldScope() {
    for (void* block : blocks_) deallocate(block);
  }

 private:
  Vector<void*> blocks_;
};

// Operations that one application of a node takes beyond one per element of its results.
int64_t flops_of(const Node& node) {
  if (!node.op->flops) return 0;
  std::vector<Type> in, out;
  for (const Value* v : node.inputs) in.push_back(v ? v->type : Type());
  for (const Value* v : node.outputs) out.push_back(v ? v->type : Type());
  return node.op->flops({in, out, node.attributes_blob.data()});
}

// Bytes of the constants that nothing else reads.
int64_t dying_bytes(const Readers& readers, const Node& node) {
  int64_t bytes = 0;
  for (const Value* v : node.inputs)
    if (v && v->constant && readers.count(v) == 1) bytes += row_bytes(v->type.dtype, v->constant->view.count());
  return bytes;
}

constexpr int64_t kLeastElementBytes = 4;  // that an element counts in the budget

// Results too large for inference to keep: computed once here, within the budget.
bool fold_large(Graph& graph, Readers& readers, const Node& node, FoldBudget& budget) {
  std::vector<InferValue> in(node.inputs.size()), out(node.outputs.size());
  int64_t bytes = 0, worked = 0;  // results of small elements take the time of larger ones
  for (size_t i = 0; i < in.size(); ++i)
    if (const Value* v = node.inputs[i]) {
      in[i].present = true;
      in[i].type = v->type;
      in[i].constant = v->contents();
    }
  for (size_t i = 0; i < out.size(); ++i) {
    const Value* v = node.outputs[i];
    if (!v) continue;
    if (!v->type.is_tensor() || !v->type.shape.fixed()) return false;
    out[i].present = true;
    const Result<int64_t> count = element_count(v->type.shape);
    if (!count.ok() || *count > budget.total) return false;
    bytes += row_bytes(v->type.dtype, *count);
    worked += std::max(row_bytes(v->type.dtype, *count), *count * kLeastElementBytes);
  }
  const int64_t growth = std::max<int64_t>(0, bytes - dying_bytes(readers, node));
  if (growth > budget.bytes || worked > budget.total) return false;
  const int64_t flops = flops_of(node);
  if (flops < 0 || flops > budget.flops) return false;
  FoldScope scope;
  scope.inputs = in;
  scope.outputs = out;
  scope.attributes_blob = node.attributes_blob.data();
  scope.table = graph.dims.get();
  if (!evaluate(*node.op, scope, {.max_elements = budget.total}).ok()) return false;
  for (size_t i = 0; i < out.size(); ++i)
    if (node.outputs[i] && !out[i].constant) return false;
  for (size_t i = 0; i < out.size(); ++i)
    if (node.outputs[i])
      make_constant(graph, readers, node.outputs[i],
                    Constant::own(value_or_throw(OwnedTensor::copy_of(*out[i].constant))));
  budget.bytes -= growth;
  budget.total -= worked;
  budget.flops -= flops;
  return true;
}

int64_t fold_constants(Graph& graph, const DeclutterOptions& options) {
  Readers readers(graph);
  FoldBudget& budget = *options.fold_left;
  int64_t folded = 0;
  for (const auto& node : graph.nodes) {
    if (std::ranges::all_of(node->outputs, [&](const Value* v) { return !v || readers.count(v) == 0; })) continue;
    if (fold_known(*node) && !node->op->random) {
      for (Value* v : node->outputs)
        if (v) make_constant(graph, readers, v, v->known);
      ++folded;
    } else if (foldable(*node) && fold_large(graph, readers, *node, budget)) {
      ++folded;
    }
  }
  if (folded) {
    remove_dead(graph);
    infer_again(graph);
  }
  return folded;
}

bool same_node(const Node& a, const Node& b) {
  return a.op == b.op && a.inputs == b.inputs && a.outputs.size() == b.outputs.size() && a.regions.empty() &&
         b.regions.empty() && equal_attributes(a.op->attributes, a.attributes_blob.data(), b.attributes_blob.data());
}

uint64_t hash_node(const Node& node) {
  uint64_t hash = hash_attributes(node.op->attributes, node.attributes_blob.data());
  const auto mix = [&](const void* p) {
    hash = (hash ^ reinterpret_cast<uintptr_t>(p)) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  mix(node.op);
  for (const Value* v : node.inputs) mix(v);
  return hash;
}

// Nodes name the same constant where short ones without a name are equal: lists of axes and sizes, which rules make
// anew.
void name_same_constants(Graph& graph) {
  constexpr int64_t kLongest = 256;  // bytes
  std::map<std::tuple<DType, std::vector<int64_t>, std::string_view>, Value*> first;
  for (const auto& node : graph.nodes)
    for (Value*& v : node->inputs) {
      if (!v || !v->is_constant() || !v->name.empty() || v->type.dtype == DType::kString) continue;
      const TensorView& view = v->constant->view;
      const int64_t bytes = dense_bytes(view.dtype, view.shape());
      if (bytes > kLongest) continue;
      const std::string_view content(static_cast<const char*>(view.data), static_cast<size_t>(bytes));
      const auto dims = view.shape();
      v = first.try_emplace({view.dtype, std::vector<int64_t>(dims.begin(), dims.end()), content}, v).first->second;
    }
}

int64_t merge_equal(Graph& graph, const DeclutterOptions&) {
  name_same_constants(graph);
  Readers readers(graph);
  std::unordered_multimap<uint64_t, Node*> seen;
  int64_t merged = 0;
  for (const auto& node : graph.nodes) {
    if (node->op->random || !node->regions.empty()) continue;
    const uint64_t hash = hash_node(*node);
    Node* twin = nullptr;
    for (auto [it, end] = seen.equal_range(hash); it != end && !twin; ++it)
      if (same_node(*it->second, *node)) twin = it->second;
    if (!twin) {
      seen.emplace(hash, node.get());
      continue;
    }
    bool moved = false;
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      Value* old = node->outputs[i];
      if (!old || !twin->outputs[i] || readers.count(old) == 0 || readers.kept(old)) continue;
      readers.move(old, twin->outputs[i]);
      std::ranges::replace(graph.outputs, old, twin->outputs[i]);
      moved = true;
    }
    merged += moved;
  }
  if (merged) remove_dead(graph);
  return merged;
}

int64_t remove_dead_pass(Graph& graph, const DeclutterOptions&) { return remove_dead(graph); }

constexpr SimplifyPass kPasses[] = {
    {"fold-constants", "f(constants) → constant", fold_constants},
    {"inline-branch", "cond of a known condition → the nodes of the branch that is taken", inline_branches},
    {"merge-equal", "y = f(x), z = f(x) → z is y", merge_equal},
    {"share-joined", "concat(x, y), concat(x, y, z) → j = concat(x, y), concat(j, z)", share_joined},
    {"settle-regions", "what a loop does not change, and constants → used in its region as they are", settle_regions},
    {"move-invariants", "products in a loop, of what its turns do not change → in front of it", move_invariants},
    {"pull-strides", "conv(relu(conv(x))) of one tap with a stride → conv(relu(conv(x) with the stride))",
     pull_strides},
    {"remove-dead", "nodes that nobody reads → nothing", remove_dead_pass},
};

}  // namespace

std::span<const SimplifyPass> simplify_passes() { return kPasses; }

int64_t remove_dead(Graph& graph) {
  std::unordered_set<const Value*> live(graph.outputs.begin(), graph.outputs.end());
  std::unordered_set<std::string_view> kept(graph.keep.begin(), graph.keep.end());
  std::vector<bool> needed(graph.nodes.size());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = *graph.nodes[i];
    for (Value* v : node.outputs) needed[i] = needed[i] || (v && (live.contains(v) || kept.contains(v->name)));
    if (!needed[i]) continue;
    for (Value* v : node.inputs)
      if (v) live.insert(v);
    for (size_t k = 0; k < node.outputs.size(); ++k)  // an optional result that nobody reads is not made
      if (node.outputs[k] && static_cast<int>(k) >= node.op->outputs.min && !live.contains(node.outputs[k]) &&
          !kept.contains(node.outputs[k]->name) && node.regions.empty())
        node.outputs[k] = nullptr;
    while (!node.outputs.empty() && !node.outputs.back()) node.outputs.pop_back();
  }
  size_t i = 0;
  return static_cast<int64_t>(std::erase_if(graph.nodes, [&](const auto&) { return !needed[i++]; }));
}

void infer_again(Graph& graph) {
  for (const auto& node : graph.nodes) infer_node(graph, *node);
}

}  // namespace mica
