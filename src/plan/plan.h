// The compiled model: functions of stages over values, constants in their packed forms. Machine-independent; read-only
// once made.
//
// A plan says what is computed, not where: bind lays out values in memory, because shapes and machine are known there.
// Everything is an index into the plan's own tables, so that a file holds it and a reader can validate it.
#pragma once
#include "types/epilogue.h"
#include "types/op.h"
#include "types/packing.h"

namespace mica {

inline constexpr uint32_t kNoIndex = 0xffffffffu;

// Contents fixed at conversion. A weight that stages want packed is stored in that form only (packings can be undone).
struct PlanConstant {
  DType dtype = DType::kNone;
  Shape shape;                 // fixed
  PackKey packing;             // kind 0: plain
  const void* data = nullptr;  // 64-byte aligned: the mapped file, or `owned`
  size_t bytes = 0;
  OwnedTensor owned;            // when the plan was not read from a file, or the section was encoded
  DType stored = DType::kNone;  // what a file holds instead of dtype: kF16, rounded, of kF32
};

enum class ValueKind : uint8_t { kFrame, kConstant, kArgument, kState };

struct PlanValue {
  ValueKind kind = ValueKind::kFrame;
  Type type;
  uint32_t constant = kNoIndex;  // of Plan::constants
  uint32_t name = kNoIndex;      // of Plan::names; kNoIndex when the source had none
  bool channels_last = false;    // physical order: batch, spatial axes, channels
  bool keep = false;             // must exist as it is at run time (callbacks, compare, partial runs)
};

// One fused piece of work.
struct Stage {
  const OpDef* op = nullptr;
  Vector<std::byte> attributes;  // the operator's struct
  Vector<uint32_t> inputs;       // values of the function; kNoIndex: left out; operands of the epilogue come last
  Vector<uint32_t> outputs;      // kNoIndex: not wanted
  Vector<uint32_t> functions;    // what regions became
  Epilogue epilogue;             // on output 0
  uint32_t name = kNoIndex;      // the source node
};

// How many of the stage's inputs are its operator's own.
inline uint32_t own_input_count(const Stage& stage) {
  auto count = static_cast<uint32_t>(stage.inputs.size());
  for (int i = 0; i < stage.epilogue.count; ++i) count -= stage.epilogue.ops[i].operand >= 0;
  return count;
}

struct PlanFunction {
  Vector<PlanValue> values;
  Vector<Stage> stages;  // in an order of execution
  Vector<uint32_t> inputs, outputs;
};

struct PlanState {
  uint32_t input, output;
};  // positions in the main function's inputs and outputs
struct PlanPort {
  uint32_t name;
};  // of an input or an output of the main function
struct PlanMetadata {
  uint32_t key, value;
};  // of Plan::names

struct Plan {
  DimTable dims;
  Vector<String> names;
  Vector<PlanConstant> constants;
  Vector<PlanFunction> functions;  // 0 is the main one
  Vector<PlanPort> inputs, outputs;
  Vector<PlanState> states;
  Vector<PlanMetadata> metadata;
  std::string_view name(uint32_t index) const {
    return index < names.size() ? names[index].view() : std::string_view();
  }
  Result<uint32_t> add_name(std::string_view text);
};

// Every index in range, every list consistent with its operator, stages ordered, calls without cycles, attributes in
// their ranges. Errors: kBadFile naming the place. What passes needs no further structural check.
Status validate(const Plan& plan);

}  // namespace mica
