// Steps that copy elements between operands of a stage: what the hooks of movement operators, and of others that gather
// their operands, are made of.
#pragma once
#include "kernels/move/move.h"
#include "step/run.h"
#include "types/operand.h"

namespace mica::move {

inline constexpr int kZero = -1;  // an operand of 16 bytes of zeros

// One side of a copy: an operand of the stage (an index into inputs, outputs, temporaries, or kZero), the elements as a
// view whose data is not used, and the bytes from the operand's first element to the view's.
struct Side {
  int operand = 0;
  TensorView view;
  int64_t offset = 0;
};

inline Side input_side(const BindScope& scope, int i) { return {i, scope.input(i).view, 0}; }
inline Side output_side(const BindScope& scope, int i) {
  return {static_cast<int>(scope.inputs.size()) + i, scope.output(i).view, 0};
}

// Elements begin, begin + step, … of an axis; `length` of them.
inline Side part_of(Side side, int axis, int64_t begin, int64_t length, int64_t step = 1) {
  const auto a = static_cast<size_t>(axis);
  if (length > 0) side.offset += begin * side.view.strides[a];
  side.view.dims[a] = length;
  side.view.strides[a] *= step;
  return side;
}

// Kernels move bytes, so every type of whole bytes will do but strings, whose characters the runtime keeps account of.
inline bool can_copy(const BindScope& scope) {
  for (const auto operands : {scope.inputs, scope.outputs})
    for (const BoundOperand& operand : operands)
      if (operand.present && (is_sub_byte(operand.view.dtype) || operand.view.dtype == DType::kString)) return false;
  return true;
}

struct CopyStep {
  CopyPlan plan;
  const MoveKernels* kernels;
  int from, to;
  int64_t from_offset, to_offset;
  char zeros[16];
};

inline void run_copy_step(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const CopyStep*>(arguments);
  const char* from = args.from == kZero ? args.zeros : static_cast<const char*>(operands[args.from]);
  args.kernels->copy(args.plan, from + args.from_offset, static_cast<char*>(operands[args.to]) + args.to_offset,
                     range.begin, range.end);
}

// The plan of a copy between views of equal shape.
inline CopyPlan plan_views(const TensorView& from, const TensorView& to) {
  CopyAxis axes[kMaxRank];
  for (int i = 0; i < to.rank; ++i) axes[i] = {to.dim(i), from.stride(i), to.stride(i)};
  return plan_copy(axes, to.rank, element_bytes(to.dtype));
}

// Adds a step for a plan between two places; none when there is nothing to copy.
inline Status add_plan(BindScope& scope, const CopyPlan& plan, const Side& from, const Side& to) {
  if (plan.tasks == 0) return {};
  MICA_TRY(CopyStep * args, scope.arguments<CopyStep>());
  *args = {plan, &move_kernels(scope.machine->isa), from.operand, to.operand, from.offset, to.offset, {}};
  static constexpr std::string_view kNames[] = {"copy_rows", "copy_fill", "copy_transpose", "copy_strided"};
  // A byte moved costs about as much as a quarter of a multiply-add.
  return scope.add({.kernel = run_copy_step,
                    .arguments = args,
                    .tasks = plan.tasks,
                    .work = static_cast<double>(plan.bytes) / 4,
                    .name = kNames[static_cast<int>(plan.kind)]});
}

// Adds the step that copies all elements of `from` to `to`, whose views have equal shapes.
inline Status add_copy_step(BindScope& scope, const Side& from, const Side& to) {
  return add_plan(scope, plan_views(from.view, to.view), from, to);
}

}  // namespace mica::move
