#include "export/diagram.h"

#include <map>

namespace mica {
namespace {

std::string text_of(const String& text) { return std::string(text.view()); }

std::string type_text(const Type& type, const DimTable& dims) {
  String text;
  ok_or_throw(print(type, dims, text));
  return text_of(text);
}

std::string attributes_text(const OpDef& op, const void* blob, const DimTable& dims) {
  if (!op.attributes.visit) return {};
  String text;
  ok_or_throw(print_attributes(op.attributes, blob, dims, text));
  return text_of(text);
}

// Up to eight elements of a constant.
std::string contents_text(const TensorView& view) {
  constexpr int64_t kShown = 8;
  if (!view.data) return {};
  String text;
  const Elements elements(view);
  const int64_t n = std::min(view.count(), kShown);
  for (int64_t i = 0; i < n; ++i) {
    if (i) ok_or_throw(text.append(", "));
    if (view.dtype == DType::kString)
      ok_or_throw(text.print("\"{}\"", elements.text(i).view()));
    else if (is_integer(view.dtype) || view.dtype == DType::kBool)
      ok_or_throw(text.print("{}", elements.integer(i)));
    else
      ok_or_throw(text.print("{}", static_cast<float>(elements.number(i))));
  }
  if (view.count() > n) ok_or_throw(text.append(", …"));
  return text_of(text);
}

class GraphDiagram {
 public:
  GraphDiagram(Diagram& to, bool constants) : to_(to), constants_(constants) {}

  void add(const Graph& graph, const std::string& group) {
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      made_[graph.inputs[i]] = box({"input",
                                    name_at(graph.input_names, i, *graph.inputs[i]),
                                    Diagram::Kind::kInput,
                                    group,
                                    {{"type", type_text(graph.inputs[i]->type, *graph.dims)}}});
    for (const auto& node : graph.nodes) add(graph, *node, group);
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const Value& value = *graph.outputs[i];
      const size_t at = box({"output",
                             name_at(graph.output_names, i, value),
                             Diagram::Kind::kOutput,
                             group,
                             {{"type", type_text(value.type, *graph.dims)}}});
      connect(graph, &value, at, group);
    }
  }

 private:
  static std::string name_at(const std::vector<std::string>& names, size_t i, const Value& value) {
    return i < names.size() ? names[i] : value.name;
  }

  size_t box(Diagram::Box made) {
    to_.boxes.push_back(std::move(made));
    return to_.boxes.size() - 1;
  }

  void add(const Graph& graph, const Node& node, const std::string& group) {
    Diagram::Box made{std::string(node.op->name), node.name, Diagram::Kind::kNode, group, {}};
    if (const std::string text = attributes_text(*node.op, node.attributes_blob.data(), *graph.dims); !text.empty())
      made.facts.emplace_back("attributes", text);
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (const Value* v = node.inputs[i]; v && v->is_constant() && !constants_)
        made.facts.emplace_back("input " + std::to_string(i),
                                type_text(v->type, *graph.dims) + " = " + contents_text(v->constant->view));
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (const Value* v = node.outputs[i])
        made.facts.emplace_back("output " + std::to_string(i),
                                type_text(v->type, *graph.dims) + (v->name.empty() ? "" : " " + v->name));
    const size_t at = box(std::move(made));
    for (const Value* v : node.inputs) connect(graph, v, at, group);
    for (const Value* v : node.outputs)
      if (v) made_[v] = at;
    for (size_t k = 0; k < node.regions.size(); ++k)
      add(*node.regions[k], (group.empty() ? "" : group + " / ") +
                                (node.name.empty() ? std::string(node.op->name) : node.name) + " region " +
                                std::to_string(k));
  }

  void connect(const Graph& graph, const Value* value, size_t to, const std::string& group) {
    if (!value) return;
    if (value->is_constant()) {
      if (!constants_) return;
      if (!made_.count(value))
        made_[value] =
            box({"constant",
                 value->name,
                 Diagram::Kind::kConstant,
                 group,
                 {{"type", type_text(value->type, *graph.dims)}, {"contents", contents_text(value->constant->view)}}});
    }
    const auto from = made_.find(value);
    if (from != made_.end()) to_.arrows.push_back({from->second, to, type_text(value->type, *graph.dims), value->name});
  }

  Diagram& to_;
  bool constants_;
  std::map<const Value*, size_t> made_;
};

std::string epilogue_text(const Epilogue& epilogue) {
  std::string text;
  for (int i = 0; i < epilogue.count; ++i) {
    const PostOp& op = epilogue.ops[i];
    text += (i ? ", " : "") + std::string(info_of(op.function).name);
    if (op.operand >= 0) text += "(input " + std::to_string(op.operand) + ")";
  }
  return text;
}

std::string constant_text(const Plan& plan, const PlanValue& value) {
  const PlanConstant& constant = plan.constants[value.constant];
  String type;
  ok_or_throw(print(Type::tensor(constant.dtype, constant.shape), plan.dims, type));
  std::string text = text_of(type);
  if (constant.packing.kind) return text + " packed as form " + std::to_string(constant.packing.kind);
  int64_t dims[kMaxRank];
  for (int i = 0; i < constant.shape.rank; ++i) dims[i] = constant.shape[i].value();
  const TensorView view =
      dense_view(const_cast<void*>(constant.data), constant.dtype, {dims, static_cast<size_t>(constant.shape.rank)});
  return text + " = " + contents_text(view);
}

class PlanDiagram {
 public:
  PlanDiagram(Diagram& to, const Plan& plan, const BoundSegment* segment) : to_(to), plan_(plan), segment_(segment) {}

  void add(uint32_t index) {
    const PlanFunction& function = plan_.functions[index];
    const std::string group = index == 0 ? "" : "function " + std::to_string(index);
    std::vector<size_t> made(function.values.size(), kNone);
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      const uint32_t v = function.inputs[i];
      const std::string name(index == 0 ? plan_.name(plan_.inputs[i].name) : plan_.name(function.values[v].name));
      made[v] = box({"input", name, Diagram::Kind::kInput, group, {{"type", type(function, v, index)}}});
    }
    for (uint32_t s = 0; s < function.stages.size(); ++s) add_stage(function, index, s, group, made);
    for (size_t i = 0; i < function.outputs.size(); ++i) {
      const uint32_t v = function.outputs[i];
      const std::string name(index == 0 ? plan_.name(plan_.outputs[i].name) : plan_.name(function.values[v].name));
      const size_t at = box({"output", name, Diagram::Kind::kOutput, group, {{"type", type(function, v, index)}}});
      connect(function, v, index, at, made);
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  size_t box(Diagram::Box made) {
    to_.boxes.push_back(std::move(made));
    return to_.boxes.size() - 1;
  }

  std::string type(const PlanFunction& function, uint32_t v, uint32_t index) const {
    const bool bound = segment_ && index == 0 && segment_->values[v].present;
    return type_text(bound ? segment_->values[v].type : function.values[v].type, plan_.dims) +
           (function.values[v].channels_last ? " channels last" : "");
  }

  void add_stage(const PlanFunction& function, uint32_t index, uint32_t s, const std::string& group,
                 std::vector<size_t>& made) {
    const Stage& stage = function.stages[s];
    Diagram::Box box_made{
        std::string(stage.op->name), std::string(plan_.name(stage.name)), Diagram::Kind::kNode, group, {}};
    Diagram::Facts& facts = box_made.facts;
    if (const std::string text = attributes_text(*stage.op, stage.attributes.data(), plan_.dims); !text.empty())
      facts.emplace_back("attributes", text);
    if (stage.epilogue.count) facts.emplace_back("epilogue", epilogue_text(stage.epilogue));
    for (size_t i = 0; i < stage.inputs.size(); ++i)
      if (const uint32_t v = stage.inputs[i]; v != kNoIndex && function.values[v].kind == ValueKind::kConstant)
        facts.emplace_back("input " + std::to_string(i), constant_text(plan_, function.values[v]));
    for (size_t i = 0; i < stage.outputs.size(); ++i)
      if (const uint32_t v = stage.outputs[i]; v != kNoIndex)
        facts.emplace_back("output " + std::to_string(i),
                           type(function, v, index) + " " + std::string(plan_.name(function.values[v].name)));
    for (uint32_t f : stage.functions) facts.emplace_back("calls", "function " + std::to_string(f));
    if (segment_ && index == 0) add_steps(s, facts);
    const size_t at = box(std::move(box_made));
    for (uint32_t v : stage.inputs)
      if (v != kNoIndex) connect(function, v, index, at, made);
    for (uint32_t v : stage.outputs)
      if (v != kNoIndex) made[v] = at;
  }

  void add_steps(uint32_t s, Diagram::Facts& facts) const {
    bool any = false;
    for (const BoundStep& step : segment_->steps) {
      if (step.stage != s) continue;
      any = true;
      facts.emplace_back(
          "step", step.reference ? "reference"
                                 : std::string(step.name) + ", " + std::to_string(step.tasks) + " tasks" +
                                       (step.scratch_bytes ? ", scratch " + std::to_string(step.scratch_bytes) : ""));
    }
    if (!any && s >= segment_->first_stage && s < segment_->end_stage)
      facts.emplace_back("step", "none: a view, or known beforehand");
  }

  void connect(const PlanFunction& function, uint32_t v, uint32_t index, size_t to, const std::vector<size_t>& made) {
    if (made[v] != kNone)
      to_.arrows.push_back({made[v], to, type(function, v, index), std::string(plan_.name(function.values[v].name))});
  }

  Diagram& to_;
  const Plan& plan_;
  const BoundSegment* segment_;
};

Diagram of_plan(const Plan& plan, const BoundSegment* segment) {
  Diagram made;
  made.title = segment ? "bound" : "plan";
  for (const PlanMetadata& m : plan.metadata) made.facts.emplace_back(plan.name(m.key), plan.name(m.value));
  made.facts.emplace_back("functions", std::to_string(plan.functions.size()));
  made.facts.emplace_back("stages", std::to_string(plan.functions[0].stages.size()));
  if (segment) {
    made.facts.emplace_back("steps", std::to_string(segment->steps.size()));
    made.facts.emplace_back(
        "arena", std::to_string(segment->arena_bytes) + " bytes, bound " + std::to_string(segment->arena_bound));
    made.facts.emplace_back("scratch", std::to_string(segment->scratch_bytes) + " bytes per worker");
  }
  PlanDiagram diagram(made, plan, segment);
  for (uint32_t f = 0; f < plan.functions.size(); ++f) diagram.add(f);
  return made;
}

}  // namespace

Diagram diagram_of(const Graph& graph, bool constants) {
  Diagram made;
  made.title = graph.name;
  for (const auto& [key, value] : graph.metadata) made.facts.emplace_back(key, value);
  GraphDiagram(made, constants).add(graph, "");
  return made;
}

Diagram diagram_of(const Plan& plan) { return of_plan(plan, nullptr); }
Diagram diagram_of(const Plan& plan, const BoundSegment& segment) { return of_plan(plan, &segment); }

}  // namespace mica
