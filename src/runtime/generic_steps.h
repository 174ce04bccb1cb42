// Steps that serve every operator: copies between layouts, and post-operations that a kernel did not do itself.
#pragma once
#include "kernels/move/move.h"
#include "step/run.h"

namespace mica {

// Copies all elements of `from` to `to`, of equal shape and any strides; operands: source, destination. Elements of
// whole bytes move by `kernels`, in as many tasks as the plan has.
struct CopyArguments {
  TensorView from, to;
  CopyPlan plan;
  const MoveKernels* kernels = nullptr;
};
StepSpec copy_step(CopyArguments& args, const TensorView& from, const TensorView& to, Isa isa);

struct PostOpArguments {
  PostOp op;
  TensorView result, second;
};
void run_post_op(const void* arguments, void* const* operands,
                 const TaskRange& range);  // operands: result, second (or null)

}  // namespace mica
