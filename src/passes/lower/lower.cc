#include "passes/lower/lower.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "passes/lower/chains.h"
#include "passes/lower/layouts.h"
#include "passes/lower/pack.h"

namespace mica {
namespace {

// Fallible containers of the runtime, filled by a compiler that throws.
template <class T>
void push(Vector<T>& list, T item) {
  ok_or_throw(list.push_back(std::move(item)));
}

class Lowerer {
 public:
  explicit Lowerer(const LowerOptions& options) : options_(options) {}

  Lowered run(Graph& graph) {
    lower_function(graph);
    for (size_t i = 0; i < graph.inputs.size(); ++i) push(plan_.inputs, PlanPort{name_of(graph.input_names[i])});
    for (size_t i = 0; i < graph.outputs.size(); ++i) push(plan_.outputs, PlanPort{name_of(graph.output_names[i])});
    for (const Graph::State& s : graph.states)
      push(plan_.states, PlanState{static_cast<uint32_t>(s.input), static_cast<uint32_t>(s.output)});
    for (const auto& [key, value] : graph.metadata) push(plan_.metadata, PlanMetadata{name_of(key), name_of(value)});
    plan_.dims = std::move(*graph.dims);
    graph = Graph();  // lets go of what the plan does not keep, before more is made
    const auto packed = pack_constants(plan_, wishes_, [&](uint32_t constant) { (*keep_)[constant] = nullptr; });
    if (packed) keep_->push_back(std::make_shared<const Constant>(Constant{TensorView(), packed}));
    return {std::move(plan_), keep_};
  }

 private:
  uint32_t name_of(const std::string& text) {
    if (text.empty()) return kNoIndex;
    const auto [it, fresh] = names_.try_emplace(text, 0);
    if (fresh) it->second = value_or_throw(plan_.add_name(text));
    return it->second;
  }

  uint32_t constant_of(const ConstantPtr& constant) {
    const auto [it, fresh] = constants_.try_emplace(constant.get(), static_cast<uint32_t>(plan_.constants.size()));
    if (!fresh) return it->second;
    PlanConstant made;
    made.dtype = constant->view.dtype;
    made.shape = constant->view.to_shape();
    made.data = constant->view.data;
    made.bytes = static_cast<size_t>(dense_bytes(made.dtype, constant->view.shape()));
    push(plan_.constants, std::move(made));
    keep_->push_back(constant);
    return it->second;
  }

  // Returns the function's index; a function stands before those it calls.
  uint32_t lower_function(Graph& graph) {
    const auto index = static_cast<uint32_t>(plan_.functions.size());
    push(plan_.functions, PlanFunction());
    PlanFunction function;
    std::unordered_map<const Value*, uint32_t> values;
    if (options_.fuse) view_channels_early(graph);
    const Fusion fusion = options_.fuse ? fuse_epilogues(graph) : Fusion();
    if (options_.chains) fuse_chains(graph, fusion);
    auto channels_last = options_.channels_last ? channels_last_values(graph) : std::unordered_set<const Value*>();
    if (options_.channels_last) share_conversions(graph, channels_last);
    const auto value_of = [&](const Value* value) -> uint32_t {
      if (!value) return kNoIndex;
      const auto [it, fresh] = values.try_emplace(value, static_cast<uint32_t>(function.values.size()));
      if (!fresh) return it->second;
      PlanValue made;
      made.kind = value->is_constant() ? ValueKind::kConstant
                  : value->is_input()  ? ValueKind::kArgument
                                       : ValueKind::kFrame;
      made.type = value->type;
      if (value->is_constant()) made.constant = constant_of(value->constant);
      made.name = name_of(value->name);
      made.channels_last = channels_last.contains(value);
      made.keep = !value->name.empty() && std::ranges::find(graph.keep, value->name) != graph.keep.end();
      push(function.values, made);
      return it->second;
    };
    for (const Value* input : graph.inputs) push(function.inputs, value_of(input));
    for (const auto& node : graph.nodes)
      if (!fusion.absorbed.contains(node.get())) {
        add_wishes(*node, index, static_cast<uint32_t>(function.stages.size()));
        push(function.stages, lower_node(*node, fusion, value_of));
      }
    for (const Value* output : graph.outputs) push(function.outputs, value_of(output));
    plan_.functions[index] = std::move(function);
    return index;
  }

  void add_wishes(const Node& node, uint32_t function, uint32_t stage) {
    const LowerDef* def = options_.pack ? find_row(all_lower(), node.op->name) : nullptr;
    if (!def || !def->pack) return;
    for (const PackWish& wish : def->pack(node))
      wishes_.push_back({function, stage, static_cast<uint32_t>(wish.input), wish.key});
  }

  template <class ValueOf>
  Stage lower_node(const Node& node, const Fusion& fusion, const ValueOf& value_of) {
    Stage stage;
    stage.op = node.op;
    stage.name = name_of(node.name);
    ok_or_throw(stage.attributes.append(node.attributes_blob));
    for (const Value* input : node.inputs) push(stage.inputs, value_of(input));
    const auto fused = fusion.stages.find(&node);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      push(stage.outputs, value_of(i == 0 && fused != fusion.stages.end() ? fused->second.result[0] : node.outputs[i]));
    if (fused != fusion.stages.end()) {
      stage.epilogue = fused->second.epilogue;
      for (const Value* operand : fused->second.operands) push(stage.inputs, value_of(operand));
    }
    for (const auto& region : node.regions) push(stage.functions, lower_function(*region));
    return stage;
  }

  const LowerOptions& options_;
  Plan plan_;
  std::unordered_map<std::string, uint32_t> names_;
  std::unordered_map<const Constant*, uint32_t> constants_;
  std::vector<StageWish> wishes_;
  // By constant of the plan.
  std::shared_ptr<std::vector<ConstantPtr>> keep_ = std::make_shared<std::vector<ConstantPtr>>();
};

}  // namespace

Lowered lower(Graph graph, const LowerOptions& options) { return Lowerer(options).run(graph); }

}  // namespace mica
