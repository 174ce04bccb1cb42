// A stage's post-ops as far as the matrix-product kernels can do them: a bias for each column, one residual, one
// activation.
#pragma once
#include "kernels/gemm/gemm.h"
#include "step/run.h"

namespace mica {

struct GemmEpilogueMap {
  int done = 0;                  // how many of the stage's post-ops are covered
  int bias = -1, residual = -1;  // inputs of the stage
  GemmEpilogue form;             // without pointers and strides
};

struct GemmEpilogueOptions {
  int column_axis = 1;    // of output 0: where a vector is one number for each column
  bool has_bias = false;  // the stage's own: a vector cannot be taken any more
  bool residual = true;   // whether a residual that has the output's shape can be taken
};

// Pure. The caller checks the residual's strides, and gives `residual = false` when they do not suit.
GemmEpilogueMap map_epilogue(const BindScope& scope, const GemmEpilogueOptions& options);

// The kernel's form of a function of one operand; false when there is none.
bool activation_of(const PostOp& op, GemmEpilogue& form);

// How many of the scope's inputs are the operator's own; those of post-ops follow.
inline int own_inputs(const BindScope& scope) {
  int count = static_cast<int>(scope.inputs.size());
  for (int i = 0; i < scope.epilogue.count; ++i) count -= scope.epilogue.ops[i].operand >= 0;
  return count;
}

inline GemmLimits limits_of(const Machine& machine) {
  return {.l1_bytes = static_cast<int64_t>(machine.l1d),
          .l2_bytes = static_cast<int64_t>(machine.l2),
          .adds_apart = machine.adds_apart,
          .half_units = machine.half_units,
          .threads = machine.threads};
}

}  // namespace mica
