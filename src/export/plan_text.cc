// Plans as text that people read.
#include "export/diagram.h"

namespace mica {
namespace {

class PlanPrinter {
 public:
  PlanPrinter(const Plan& plan, const BoundSegment* segment) : plan_(plan), segment_(segment) {}

  std::string print() {
    for (const PlanMetadata& m : plan_.metadata) line("metadata \"{}\" \"{}\"", plan_.name(m.key), plan_.name(m.value));
    for (const PlanState& s : plan_.states) line("state: output {} feeds input {}", s.output, s.input);
    for (uint32_t f = 0; f < plan_.functions.size(); ++f) function(f);
    if (segment_) bound();
    return std::string(out_.view());
  }

 private:
  template <class... Args>
  void line(std::string_view pattern, const Args&... args) {
    ok_or_throw(out_.print(pattern, args...));
    ok_or_throw(out_.append("\n"));
  }

  std::string type(const PlanValue& value) const {
    String text;
    ok_or_throw(mica::print(value.type, plan_.dims, text));
    if (value.channels_last) ok_or_throw(text.append(" channels_last"));
    return std::string(text.view());
  }

  std::string values(std::span<const uint32_t> list) const {
    std::string text;
    for (uint32_t v : list)
      text += (text.empty() ? "" : ", ") + (v == kNoIndex ? std::string("_") : "%" + std::to_string(v));
    return text;
  }

  void function(uint32_t index) {
    const PlanFunction& f = plan_.functions[index];
    line("function {}({}) -> ({})", index, values(f.inputs), values(f.outputs));
    for (size_t i = 0; index == 0 && i < f.inputs.size(); ++i)
      line("  input %{} \"{}\"", f.inputs[i], plan_.name(plan_.inputs[i].name));
    for (uint32_t v = 0; v < f.values.size(); ++v) {
      const PlanValue& value = f.values[v];
      if (value.kind != ValueKind::kConstant) continue;
      const PlanConstant& constant = plan_.constants[value.constant];
      line("  constant %{}: {} = #{} ({} bytes{})", v, type(value), value.constant, constant.bytes,
           constant.packing.kind ? ", packed" : "");
    }
    for (uint32_t s = 0; s < f.stages.size(); ++s) stage(f, s);
    for (size_t i = 0; index == 0 && i < f.outputs.size(); ++i)
      line("  output %{} \"{}\"", f.outputs[i], plan_.name(plan_.outputs[i].name));
    line("end");
  }

  void stage(const PlanFunction& f, uint32_t s) {
    const Stage& stage = f.stages[s];
    String results, attributes, epilogue;
    for (uint32_t v : stage.outputs) {
      if (!results.empty()) ok_or_throw(results.append(", "));
      if (v == kNoIndex)
        ok_or_throw(results.append("_"));
      else
        ok_or_throw(results.print("%{}: {}", v, type(f.values[v])));
    }
    if (stage.op->attributes.visit)
      ok_or_throw(print_attributes(stage.op->attributes, stage.attributes.data(), plan_.dims, attributes));
    for (int i = 0; i < stage.epilogue.count; ++i) {
      const PostOp& op = stage.epilogue.ops[i];
      ok_or_throw(epilogue.print(" then {}", info_of(op.function).name));
      if (op.operand >= 0) ok_or_throw(epilogue.print("(input {})", static_cast<int>(op.operand)));
    }
    for (uint32_t called : stage.functions) ok_or_throw(epilogue.print(" calls {}", called));
    line("  [{}] {} = {}({}){}{}{}  # {}", s, results, stage.op->name, values(stage.inputs),
         attributes.empty() ? "" : " ", attributes, epilogue, plan_.name(stage.name));
  }

  static std::string place(const Place& place) {
    if (place.base == kBaseAbsolute) return "absolute";
    if (place.base == kBaseArena) return "arena+" + std::to_string(place.offset);
    return "slot " + std::to_string(place.base - kBaseFirstSlot) + "+" + std::to_string(place.offset);
  }

  void bound() {
    const BoundSegment& b = *segment_;
    line("bound stages {} to {}: arena {} bytes (bound {}), scratch {} bytes per worker", b.first_stage, b.end_stage,
         b.arena_bytes, b.arena_bound, b.scratch_bytes);
    for (uint32_t v = 0; v < b.values.size(); ++v) {
      const BoundValue& value = b.values[v];
      if (!value.present || value.constant || value.object) continue;
      String text, strides;
      ok_or_throw(mica::print(value.type, plan_.dims, text));
      for (int d = 0; d < value.view.rank; ++d) ok_or_throw(strides.print("{}{}", d ? "," : "", value.view.stride(d)));
      line("  %{}: {} at {} strides [{}]", v, text, place(value.place), strides);
    }
    for (const BoundStep& step : b.steps)
      line("  stage {}: {} {} tasks, scratch {}", step.stage,
           step.reference ? std::string_view("reference") : step.name, step.tasks, step.scratch_bytes);
    line("end");
  }

  const Plan& plan_;
  const BoundSegment* segment_;
  String out_;
};

}  // namespace

std::string plan_text(const Plan& plan, const BoundSegment* segment) { return PlanPrinter(plan, segment).print(); }

}  // namespace mica
