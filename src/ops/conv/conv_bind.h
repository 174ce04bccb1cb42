// What the hooks of convolutions over floats and of those over pixels share.
#pragma once
#include "ops/conv/conv.h"
#include "ops/conv/conv_step.h"

namespace mica::conv {

// A step whose output, bias and post-operations are settled: it lacks the algorithm, the input and the weights.
struct BegunStep {
  ConvStep* step = nullptr;  // null: no problem for the kernels
  Sizes sizes;               // of all rows
  int y = 0;                 // the operand of output 0 ...
  ImageOperand to;           // ... and where the kernel writes
};
// `planes`: the problem of kFilter, which reads and writes operands as they lie.
Result<BegunStep> begin_step(BindScope& scope, const Conv& attributes, const ConvProblem* planes = nullptr);

// What is forced and what the session leaves, without what was measured.
ConvPolicy policy_of(const BindScope& scope);

// Packed weights: made ahead when they are constant, else by a step of each run.
Status pack_weights(BindScope& scope, ConvStep& step);

}  // namespace mica::conv
