#include "passes/lower/chains.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/match.h"
#include "ops/pointwise/pointwise_chain.h"

namespace mica {

MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(pointwise_chain);

namespace {

constexpr size_t kMaxChainInputs = 8;

struct Chain {
  std::vector<Node*> nodes;  // of the run, in order
  Values inputs;             // the first is what the chain begins with
  PointwiseChain links;
};

class ChainFuser {
 public:
  ChainFuser(Graph& graph, const Fusion& fusion) : graph_(graph), fusion_(fusion), readers_(graph) {}

  int64_t run() {
    std::unordered_map<const Node*, Chain> at;  // by the last node
    int64_t made = 0;
    for (const auto& node : graph_.nodes) {
      if (taken_.contains(node.get()) || !can_link(*node)) continue;
      Chain chain = grow(*node);
      if (chain.nodes.size() < 2) continue;
      for (const Node* member : chain.nodes) taken_[member] = true;
      at.emplace(chain.nodes.back(), std::move(chain));
      ++made;
    }
    if (made) replace(at);
    return made;
  }

 private:
  bool can_link(const Node& node) const {
    const OpDef& op = *node.op;
    if (op.pointwise == Pointwise::kNone || node.outputs.size() != 1 || !node.outputs[0]) return false;
    if (fusion_.absorbed.contains(&node) || fusion_.stages.contains(&node)) return false;
    const Type& type = node.outputs[0]->type;
    if (!type.is_tensor() || !type.shape.known()) return false;
    if (type.dtype != DType::kF32 && type.dtype != DType::kF16 && type.dtype != DType::kBf16)
      return false;  // what chains compute
    const auto inputs = static_cast<size_t>(info_of(op.pointwise).inputs);
    return node.inputs.size() == inputs && std::ranges::all_of(node.inputs, [&](const Value* v) {
             return v && v->type.is_tensor() && v->type.dtype == type.dtype && v->type.shape.known();
           });
  }

  // Adds `node`, whose operand `from` is the running value; false when there is no room.
  static bool add_link(Chain& chain, Node& node, const Value* from) {
    float a = 0, b = 0;
    if (node.op->parameters) node.op->parameters(node.attributes_blob.data(), a, b);
    int64_t operand = -1, swapped = 0;
    if (node.inputs.size() == 2) {
      swapped = node.inputs[0] != from;
      Value* second = node.inputs[swapped ? 0 : 1];
      const auto known = std::find(chain.inputs.begin(), chain.inputs.end(), second);
      operand = known - chain.inputs.begin();
      if (known == chain.inputs.end() && chain.inputs.size() >= kMaxChainInputs) return false;
      if (known == chain.inputs.end()) chain.inputs.push_back(second);
    }
    chain.nodes.push_back(&node);
    chain.links.functions.push(static_cast<int64_t>(node.op->pointwise));
    chain.links.operands.push(operand);
    chain.links.swapped.push(swapped);
    chain.links.a.push(a);
    chain.links.b.push(b);
    return true;
  }

  // The cast of bytes that makes a chain's first value, where the chain alone reads that: it may begin with the bytes.
  Node* cast_of(const Value* source) const {
    Node* cast = source->producer;
    if (!cast || cast->op != &op_cast || source->type.dtype != DType::kF32 || taken_.contains(cast)) return nullptr;
    const Value* bytes = cast->inputs[0];
    if (readers_.count(source) != 1 || readers_.kept(source) || !bytes->type.is_tensor()) return nullptr;
    return is_byte(bytes->type.dtype) ? cast : nullptr;
  }

  // The node that reads a value once and alone; null where there is none such, or the value must exist.
  Node* only_reader(const Value* value) const {
    if (readers_.count(value) != 1 || readers_.kept(value) || readers_.nodes(value).size() != 1) return nullptr;
    return readers_.nodes(value)[0];
  }

  // The chain that begins with `node`: every link keeps the type of the first result.
  Chain grow(Node& node) const {
    Chain chain;
    size_t source = 0;
    while (source < node.inputs.size() && !(node.inputs[source]->type == node.outputs[0]->type)) ++source;
    if (source == node.inputs.size()) return chain;  // both operands broadcast
    Node* cast = cast_of(node.inputs[source]);
    if (cast) chain.nodes.push_back(cast);
    chain.inputs.push_back(cast ? cast->inputs[0] : node.inputs[source]);
    add_link(chain, node, node.inputs[source]);
    for (Value* result = node.outputs[0]; chain.links.functions.size() < kMaxChainLinks;
         result = chain.nodes.back()->outputs[0]) {
      Node* next = only_reader(result);
      if (!next || !can_link(*next) || taken_.contains(next) || !(next->outputs[0]->type == result->type)) break;
      if (!add_link(chain, *next, result)) break;
    }
    end_in_bytes(chain);
    return chain;
  }

  // Takes the cast to bytes that alone reads the chain's result.
  void end_in_bytes(Chain& chain) const {
    const Value* result = chain.nodes.back()->outputs[0];
    Node* cast = only_reader(result);
    if (!cast || cast->op != &op_cast || result->type.dtype != DType::kF32 || fusion_.absorbed.contains(cast)) return;
    const DType to = cast->outputs[0]->type.dtype;
    if (!is_byte(to)) return;
    chain.nodes.push_back(cast);
    chain.links.to = to;
  }

  // Each chain's node stands where its last member stood: all its operands exist by then.
  void replace(std::unordered_map<const Node*, Chain>& chains) {
    std::vector<std::unique_ptr<Node>> kept;
    for (auto& node : graph_.nodes) {
      const auto chain = chains.find(node.get());
      if (chain != chains.end())
        kept.push_back(node_of(chain->second));
      else if (!taken_.contains(node.get()))
        kept.push_back(std::move(node));
    }
    graph_.nodes = std::move(kept);
  }

  static std::unique_ptr<Node> node_of(const Chain& chain) {
    auto node = std::make_unique<Node>();
    node->op = &op_pointwise_chain;
    const auto* bytes = reinterpret_cast<const std::byte*>(&chain.links);
    node->attributes_blob.assign(bytes, bytes + sizeof chain.links);
    node->inputs = chain.inputs;
    node->outputs = {chain.nodes.back()->outputs[0]};
    node->outputs[0]->producer = node.get();
    node->name = chain.nodes.back()->name;
    return node;
  }

  Graph& graph_;
  const Fusion& fusion_;
  Readers readers_;
  std::unordered_map<const Node*, bool> taken_;
};

}  // namespace

int64_t fuse_chains(Graph& graph, const Fusion& fusion) { return ChainFuser(graph, fusion).run(); }

}  // namespace mica
