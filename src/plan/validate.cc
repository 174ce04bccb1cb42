// The rules that a plan keeps, wherever it came from. What passes may be bound: the runtime's own checks are for what
// depends on shapes and contents.
#include "base/checked.h"
#include "kernels/pack/form.h"
#include "plan/limits.h"
#include "plan/plan.h"

namespace mica {
namespace {

// "function 2, stage 7 (`conv1`)"
using PlaceText = Text<160>;
template <class... Args>
PlaceText place_text(std::string_view pattern, const Args&... args) {
  PlaceText text;
  format_to(text.chars, sizeof text.chars, pattern, args...);
  return text;
}
Status placed(Status status, std::string_view place) {
  if (status.ok()) return {};
  return status.take_error().at(place);
}

bool in_range(uint32_t index, size_t size) { return index == kNoIndex || index < size; }
bool known_dtype(DType dtype) { return dtype > DType::kNone && static_cast<int>(dtype) < kDTypeCount; }

Status check_shape(const Shape& shape, const DimTable& dims) {
  MICA_CHECK(shape.rank >= -1 && shape.rank <= kMaxRank, kBadFile, "a shape has rank {}", static_cast<int>(shape.rank));
  for (Dim d : shape.span())
    MICA_CHECK(d.is_fixed() ? d.value() >= 0 : d.id() < dims.entries(), kBadFile,
               "a shape has a dimension that does not exist");
  return {};
}

Status check_type(const Type& type, const DimTable& dims) {
  const bool optional = type.kind == Kind::kOptional, sequence = type.kind == Kind::kSequence;
  const bool good = type.kind <= Kind::kMap && type.of <= Kind::kMap && known_dtype(type.dtype) &&
                    (type.key == DType::kNone || known_dtype(type.key)) && type.of != Kind::kOptional &&
                    (type.of == Kind::kTensor || optional || (sequence && type.of == Kind::kMap));
  MICA_CHECK(good, kBadFile, "a type is damaged");
  return check_shape(type.shape, dims);
}

// Bytes that a constant's data must have. Strings: one StringRef for each element.
Result<size_t> constant_bytes(const PlanConstant& constant) {
  MICA_CHECK(known_dtype(constant.dtype) && constant.shape.known() && constant.shape.rank <= kMaxRank, kBadFile,
             "its type is damaged");
  int64_t list[kMaxRank], count = 1, widest;
  bool fits = true, none = false;
  for (int i = 0; i < constant.shape.rank; ++i) {
    const Dim d = constant.shape[i];
    MICA_CHECK(d.is_fixed() && d.value() >= 0, kBadFile, "its shape is not fixed");
    list[i] = d.value();
    none = none || list[i] == 0;
    fits = fits && (list[i] == 0 || checked_mul(count, list[i], count));
  }
  // 16 bytes is the widest element; rows of sub-byte types are padded by less than a byte for each element.
  fits = fits && checked_mul(count, int64_t{16}, widest);
  MICA_CHECK(fits, kBadFile, "its size overflows 64 bits");
  const std::span<const int64_t> dims(list, static_cast<size_t>(constant.shape.rank));
  if (constant.packing.kind == 0) return none ? size_t{0} : static_cast<size_t>(dense_bytes(constant.dtype, dims));
  const int64_t floats = constant.dtype == DType::kF32 ? packed_floats(constant.packing, dims) : -1;
  MICA_CHECK(floats >= 0, kBadFile, "its packed form {} does not fit its shape", constant.packing.kind);
  return static_cast<size_t>(floats) * sizeof(float);
}

Status check_constant(const PlanConstant& constant) {
  MICA_CHECK(constant.stored == DType::kNone || (constant.stored == DType::kF16 && constant.dtype == DType::kF32),
             kBadFile, "only single precision is stored as half");
  MICA_TRY(const size_t bytes, constant_bytes(constant));
  MICA_CHECK(constant.bytes == bytes, kBadFile, "it has {} bytes where its type takes {}", constant.bytes, bytes);
  MICA_CHECK(bytes == 0 || constant.data, kBadFile, "its contents are missing");
  if (constant.packing.kind == 0) {
    const PackKey plain;
    MICA_CHECK(constant.packing == plain, kBadFile, "a plain constant has numbers of a packed form");
  }
  return {};
}

class FunctionCheck {
 public:
  FunctionCheck(const Plan& plan, uint32_t index) : plan_(plan), function_(plan.functions[index]), index_(index) {}
  Status run() {
    MICA_CHECK(function_.values.size() <= kMaxValues && function_.stages.size() <= kMaxStages, kLimit,
               "it has {} values and {} stages", function_.values.size(), function_.stages.size());
    MICA_TRY_STATUS(made_.resize(function_.values.size()));
    for (size_t v = 0; v < function_.values.size(); ++v)
      MICA_TRY_STATUS(placed(check_value(v), place_text("value {}", v)));
    for (uint32_t v : function_.inputs) {
      MICA_CHECK(v < made_.size() && function_.values[v].kind == ValueKind::kArgument && !made_[v], kBadFile,
                 "the input {} is no argument, or stands twice", v);
      made_[v] = true;
    }
    for (size_t s = 0; s < function_.stages.size(); ++s)
      MICA_TRY_STATUS(placed(check_stage(function_.stages[s]),
                             place_text("stage {} (`{}`)", s, plan_.name(function_.stages[s].name).substr(0, 80))));
    for (uint32_t v : function_.outputs)
      MICA_CHECK(v < made_.size() && made_[v], kBadFile, "the output {} is made by no stage", v);
    return {};
  }

 private:
  Status check_value(size_t v) {
    const PlanValue& value = function_.values[v];
    MICA_TRY_STATUS(check_type(value.type, plan_.dims));
    MICA_CHECK(in_range(value.name, plan_.names.size()), kBadFile, "its name does not exist");
    MICA_CHECK(!value.channels_last || (value.type.is_tensor() && value.type.shape.rank >= 3), kBadFile,
               "it has no channels to stand last");
    MICA_CHECK(
        value.kind == ValueKind::kFrame || value.kind == ValueKind::kConstant || value.kind == ValueKind::kArgument,
        kBadFile, "it is of the unknown kind {}", value.kind);
    MICA_CHECK((value.kind == ValueKind::kConstant) == (value.constant != kNoIndex), kBadFile,
               "its constant is missing or not wanted");
    if (value.kind != ValueKind::kConstant) return {};
    MICA_CHECK(value.constant < plan_.constants.size(), kBadFile, "its constant does not exist");
    const PlanConstant& constant = plan_.constants[value.constant];
    MICA_CHECK(value.type.is_tensor() && value.type.dtype == constant.dtype && value.type.shape == constant.shape,
               kBadFile, "its type is not that of its constant");
    made_[v] = true;
    return {};
  }

  Status check_stage(const Stage& stage) {
    MICA_CHECK(stage.op, kBadFile, "it has no operator");
    MICA_CHECK(in_range(stage.name, plan_.names.size()), kBadFile, "its name does not exist");
    MICA_CHECK(stage.inputs.size() <= kMaxOperands && stage.outputs.size() <= kMaxOperands, kLimit,
               "it has {} operands", stage.inputs.size() + stage.outputs.size());
    for (uint32_t v : stage.inputs)
      MICA_CHECK(v == kNoIndex || (v < made_.size() && made_[v]), kBadFile, "it uses value {} before it is made", v);
    MICA_TRY_STATUS(check_attributes(stage));
    MICA_TRY(const size_t own, check_epilogue(stage));
    MICA_TRY_STATUS(check_arity(stage, own));
    for (uint32_t v : stage.outputs) {
      if (v == kNoIndex) continue;
      MICA_CHECK(v < made_.size() && function_.values[v].kind == ValueKind::kFrame && !made_[v], kBadFile,
                 "its result {} cannot be made here, or is made twice", v);
      made_[v] = true;
    }
    // Calls go to functions further back, so that no cycle is possible.
    MICA_CHECK(stage.functions.size() == static_cast<size_t>(std::max(stage.op->regions, 0)), kBadFile,
               "it calls {} functions; `{}` has {} regions", stage.functions.size(), stage.op->name, stage.op->regions);
    for (uint32_t f : stage.functions)
      MICA_CHECK(f > index_ && f < plan_.functions.size(), kBadFile,
                 "it calls function {}, which does not stand behind its own", f);
    return {};
  }

  Status check_arity(const Stage& stage, size_t own) const {
    const auto within_count = [](size_t n, Count count) {
      return n <= static_cast<size_t>(INT32_MAX) && static_cast<int>(n) >= count.min &&
             (count.max < 0 || static_cast<int>(n) <= count.max);
    };
    MICA_CHECK(within_count(own, stage.op->inputs) && within_count(stage.outputs.size(), stage.op->outputs), kBadFile,
               "`{}` does not take {} inputs and {} outputs", stage.op->name, own, stage.outputs.size());
    for (int i = 0; i < stage.op->inputs.min; ++i)
      MICA_CHECK(stage.inputs[static_cast<size_t>(i)] != kNoIndex, kBadFile, "`{}` needs its input {}", stage.op->name,
                 i);
    return {};
  }

  // Through the form in a file, which checks each field.
  Status check_attributes(const Stage& stage) {
    const AttrClass& cls = stage.op->attributes;
    MICA_CHECK(stage.attributes.size() == cls.bytes && cls.bytes <= kMaxAttrBytes, kBadFile,
               "its attributes have {} bytes; `{}` has {}", stage.attributes.size(), stage.op->name, cls.bytes);
    if (!cls.visit) return {};
    bytes_.clear();
    MICA_TRY_STATUS(write_attributes(cls, stage.attributes.data(), bytes_));
    alignas(16) char copy[kMaxAttrBytes];
    std::span<const char> in = bytes_;
    return read_attributes(cls, copy, in, plan_.dims.entries());
  }

  // Returns how many inputs are the operator's own: those of the epilogue are the last, each used once.
  Result<size_t> check_epilogue(const Stage& stage) const {
    const Epilogue& epilogue = stage.epilogue;
    MICA_CHECK(epilogue.count >= 0 && epilogue.count <= kMaxPostOps, kBadFile, "its epilogue is damaged");
    MICA_CHECK(epilogue.count == 0 || (!stage.outputs.empty() && stage.outputs[0] != kNoIndex), kBadFile,
               "its epilogue has no result to work on");
    size_t own = stage.inputs.size();
    for (int i = 0; i < epilogue.count; ++i) own -= own > 0 && epilogue.ops[i].operand >= 0;
    uint32_t seen = 0;
    for (int i = 0; i < epilogue.count; ++i) {
      const PostOp& op = epilogue.ops[i];
      const auto function = static_cast<int>(op.function);
      MICA_CHECK(function > 0 && function < kPointwiseCount, kBadFile, "its epilogue has the unknown function {}",
                 function);
      MICA_CHECK((info_of(op.function).inputs == 2) == (op.operand >= 0) && op.operand >= -1, kBadFile,
                 "`{}` in its epilogue has the operand {}", info_of(op.function).name, static_cast<int>(op.operand));
      if (op.operand < 0) continue;
      const auto at = static_cast<size_t>(op.operand);
      MICA_CHECK(at >= own && at < stage.inputs.size() && stage.inputs[at] != kNoIndex && !(seen >> (at - own) & 1),
                 kBadFile, "its epilogue has an operand that does not stand behind the operator's own");
      seen |= 1u << (at - own);
    }
    return own;
  }

  const Plan& plan_;
  const PlanFunction& function_;
  uint32_t index_;
  Vector<bool> made_;
  Vector<char> bytes_;
};

// Nesting, and stages counted as often as they are called: inference goes through each call.
Status check_calls(const Plan& plan) {
  struct Size {
    uint64_t depth = 1, stages = 0;
  };
  Vector<Size> sizes;
  MICA_TRY_STATUS(sizes.resize(plan.functions.size()));
  for (size_t f = plan.functions.size(); f-- > 0;) {
    Size& size = sizes[f];
    size.stages = plan.functions[f].stages.size();
    for (const Stage& stage : plan.functions[f].stages)
      for (uint32_t callee : stage.functions) {
        size.depth = std::max(size.depth, sizes[callee].depth + 1);
        size.stages = std::min<uint64_t>(size.stages + sizes[callee].stages, kMaxNestedStages + 1);
      }
    MICA_CHECK(size.depth <= kMaxPlanDepth && size.stages <= kMaxNestedStages, kLimit,
               "function {} calls others {} deep, with {} stages in all", f, size.depth, size.stages);
  }
  return {};
}

Status check_ports(const Plan& plan) {
  const PlanFunction& main = plan.functions[0];
  MICA_CHECK(plan.inputs.size() == main.inputs.size() && plan.outputs.size() == main.outputs.size(), kBadFile,
             "the main function has {} inputs and {} outputs, but {} and {} ports", main.inputs.size(),
             main.outputs.size(), plan.inputs.size(), plan.outputs.size());
  for (const PlanPort& port : plan.inputs)
    MICA_CHECK(in_range(port.name, plan.names.size()), kBadFile, "an input's name does not exist");
  for (const PlanPort& port : plan.outputs)
    MICA_CHECK(in_range(port.name, plan.names.size()), kBadFile, "an output's name does not exist");
  for (const PlanMetadata& entry : plan.metadata)
    MICA_CHECK(entry.key < plan.names.size() && in_range(entry.value, plan.names.size()), kBadFile,
               "a key of the metadata does not exist");
  Vector<bool> fed;
  MICA_TRY_STATUS(fed.resize(main.inputs.size()));
  for (const PlanState& state : plan.states) {
    MICA_CHECK(state.input < main.inputs.size() && state.output < main.outputs.size() && !fed[state.input], kBadFile,
               "a state has ports that do not exist, or an input has two");
    fed[state.input] = true;
    const Type& in = main.values[main.inputs[state.input]].type;
    const Type& out = main.values[main.outputs[state.output]].type;
    MICA_CHECK(
        in.is_tensor() && out.is_tensor() && in.dtype == out.dtype && in.shape.known() && in.dtype != DType::kString,
        kBadFile, "the state of input {} has no type that can be carried", state.input);
  }
  return {};
}

}  // namespace

Status validate(const Plan& plan) {
  MICA_CHECK(plan.names.size() <= kMaxNames && plan.constants.size() <= kMaxConstants, kLimit,
             "a plan has {} names and {} constants", plan.names.size(), plan.constants.size());
  MICA_CHECK(!plan.functions.empty() && plan.functions.size() <= kMaxFunctions, kBadFile, "a plan has {} functions",
             plan.functions.size());
  MICA_TRY_STATUS(plan.dims.check({kMaxDimEntries, kMaxDimDepth, kMaxDimSize}));
  for (const String& name : plan.names)
    MICA_CHECK(name.size() <= kMaxNameBytes, kLimit, "a name has {} bytes", name.size());
  for (size_t c = 0; c < plan.constants.size(); ++c)
    MICA_TRY_STATUS(placed(check_constant(plan.constants[c]), place_text("constant {}", c)));
  for (uint32_t f = 0; f < plan.functions.size(); ++f)
    MICA_TRY_STATUS(placed(FunctionCheck(plan, f).run(), place_text("function {}", f)));
  MICA_TRY_STATUS(check_calls(plan));
  return check_ports(plan);
}

}  // namespace mica
