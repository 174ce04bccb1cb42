// Steps of element-wise work: what element-wise operators, hooks with an epilogue of their own and the runtime's
// post-operations share.
#pragma once
#include "kernels/eltwise/eltwise.h"
#include "step/run.h"

namespace mica {

// One function of the running value. `operand`: index into the scope's inputs of a binary function's second argument.
struct ChainLink {
  Pointwise function = Pointwise::kIdentity;
  int operand = -1;
  bool swapped = false;  // the running value is the second argument
  float a = 0, b = 0;
};

// The operand `view` (in kernel slot `slot`) seen with the dimensions of `full`; false for types that chains do not
// read.
bool chain_operand(const TensorView& view, const TensorView& full, int slot, ChainOperand& out);

struct ChainArguments {
  const EltwiseKernels* kernels = nullptr;
  ChainArgs chain;
};
// A KernelFn; its arguments are ChainArguments.
void run_chain(const void* arguments, void* const* operands, const TaskRange& range);
StepSpec chain_step(const ChainArguments& arguments, std::string_view name);

// Adds a step output 0 = links(input `source`), and the scope's epilogue as far as it fits. Operands broadcast to
// output 0's shape. False when an element type or the number of links is not covered. `name`: of the kernel, without
// its instruction set. `casts`: bytes stand for single-precision numbers at either end.
Result<bool> bind_chain(BindScope& scope, int source, std::span<const ChainLink> links, std::string_view name,
                        bool casts = false);

// Adds a step that does the scope's post-operations from `done` on, in place on output 0. Returns how many it does:
// none for types that chains do not cover.
Result<int> bind_epilogue(BindScope& scope, int done);

// "<stem>_<dtype>__<isa>" in the scope's memory.
Result<std::string_view> kernel_name(BindScope& scope, std::string_view stem, DType dtype);

}  // namespace mica
