// The hook of softmax and log_softmax.
#pragma once
#include "kernels/reduce/reduce.h"
#include "ops/reduce/softmax_op.h"
#include "step/chain.h"
#include "step/loops.h"

namespace mica::reduce {

struct SoftmaxArguments {
  const ReduceKernels* kernels;
  SoftmaxArgs softmax;
  size_t out_slot;
};
void run_softmax(const void* arguments, void* const* operands, const TaskRange& range);

// Rows whose elements are neighbours, or that lie side by side; anything else is left to a dense copy.
Result<bool> bind_softmax(BindScope& scope, bool logarithm);

}  // namespace mica::reduce
