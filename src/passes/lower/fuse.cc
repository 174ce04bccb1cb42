#include "passes/lower/fuse.h"

#include <algorithm>

namespace mica {
namespace {

class Fuser {
 public:
  explicit Fuser(const Graph& graph) : graph_(graph) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) position_[graph.nodes[i].get()] = i;
    for (const auto& node : graph.nodes)
      for (Value* v : node->inputs)
        if (v) readers_[v].push_back(node.get());
    for (Value* v : graph.outputs) ports_[v] = true;
  }
  Fusion run() {
    for (const auto& node : graph_.nodes) {
      const LowerDef* def = find_row(all_lower(), node->op->name);
      if (def && def->absorbs && !fusion_.absorbed.contains(node.get())) grow(*node, *def);
    }
    return std::move(fusion_);
  }

 private:
  void grow(const Node& leader, const LowerDef& def) {
    FusedNode fused;
    Value* result = leader.outputs.empty() ? nullptr : leader.outputs[0];
    while (result && fused.epilogue.count < kMaxPostOps) {
      const Node* next = only_reader(result);
      if (!next || fusion_.absorbed.contains(next) || !absorb(leader, def, *next, result, fused)) break;
      fusion_.absorbed[next] = &leader;
      result = next->outputs[0];
      fused.result = {result};
    }
    if (fused.epilogue.count) fusion_.stages[&leader] = std::move(fused);
  }

  const Node* only_reader(const Value* value) const {
    const auto readers = readers_.find(value);
    if (ports_.contains(value) || readers == readers_.end() || readers->second.size() != 1) return nullptr;
    const bool kept = !value->name.empty() && std::ranges::find(graph_.keep, value->name) != graph_.keep.end();
    return kept ? nullptr : readers->second[0];
  }

  bool absorb(const Node& leader, const LowerDef& def, const Node& next, Value* result, FusedNode& fused) {
    const Pointwise f = next.op->pointwise;
    if (f == Pointwise::kNone || next.outputs.size() != 1 || !next.outputs[0]) return false;
    if (!(next.outputs[0]->type == result->type)) return false;
    PostOp op{.function = f};
    if (next.op->parameters) next.op->parameters(next.attributes_blob.data(), op.a, op.b);
    if (info_of(f).inputs == 1) {
      if (next.inputs.size() != 1 || !def.absorbs(leader, f, false)) return false;
    } else {
      if (next.inputs.size() != 2 || !next.inputs[0] || !next.inputs[1] || next.inputs[0] == next.inputs[1])
        return false;
      op.swapped = next.inputs[1] == result;
      Value* second = next.inputs[op.swapped ? 0 : 1];
      const bool residual = second->type == result->type;
      const bool image = leader.op->layout == LayoutRule::kChannelsLast;
      const bool channel =
          second->is_constant() && per_channel(*second, *result, image ? 1 : result->type.shape.rank - 1);
      if ((!residual && !channel) || !def.absorbs(leader, f, channel) || !made_before(*second, leader)) return false;
      op.operand = static_cast<int8_t>(leader.inputs.size() + fused.operands.size());
      fused.operands.push_back(second);
    }
    fused.epilogue.ops[fused.epilogue.count++] = op;
    return true;
  }

  // One number per index of the channels' axis, or a single number.
  static bool per_channel(const Value& second, const Value& result, int channel_axis) {
    const Shape& s = second.type.shape;
    const Shape& r = result.type.shape;
    if (!s.fixed() || !r.known() || r.rank < 2 || s.rank > r.rank || second.type.dtype != result.type.dtype)
      return false;
    for (int i = 0; i < s.rank; ++i) {
      const int axis = i + r.rank - s.rank;
      if (!s[i].is(1) && !(axis == channel_axis && s[i] == r[axis])) return false;
    }
    return true;
  }

  // The stage stands where its leader stood, so a second operand must exist by then.
  bool made_before(const Value& second, const Node& leader) const {
    if (!second.producer) return true;
    const auto absorbed = fusion_.absorbed.find(second.producer);
    const Node* maker = absorbed == fusion_.absorbed.end() ? second.producer : absorbed->second;
    return position_.at(maker) < position_.at(&leader);
  }

  const Graph& graph_;
  Fusion fusion_;
  std::unordered_map<const Node*, size_t> position_;
  std::unordered_map<const Value*, std::vector<const Node*>> readers_;
  std::unordered_map<const Value*, bool> ports_;
};

}  // namespace

Fusion fuse_epilogues(const Graph& graph) { return Fuser(graph).run(); }

}  // namespace mica
