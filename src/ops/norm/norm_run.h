// What the hooks of the normalisations share.
#pragma once
#include "kernels/norm/norm.h"
#include "step/chain.h"
#include "step/loops.h"
#include "types/infer.h"

namespace mica::norm {

// Operand slots of a step; -1: none.
struct NormArguments {
  const NormKernels* kernels = nullptr;
  NormArgs norm;
  int scale = -1, bias = -1, y = -1, mean = -1, deviation = -1;
};
void run_norm(const void* arguments, void* const* operands, const TaskRange& range);

inline bool is_dense_f32(const BoundOperand& operand) {
  return operand.view.dtype == DType::kF32 && operand.view.contiguous();
}
inline bool takes(const BindScope& scope) {
  const TensorView &x = scope.input(0).view, &y = scope.output(0).view;
  return x.dtype == DType::kF32 && y.dtype == DType::kF32 && strides_fit(x) && strides_fit(y) && !x.empty();
}

Status add_norm(BindScope& scope, NormArguments filled);

// Layer and root-mean-square normalisation from `axis` on. False when rows are no runs of neighbours, or the scale and
// bias are not one number per element.
Result<bool> bind_rows(BindScope& scope, int64_t given_axis, float epsilon, bool center);

// Normalisation of runs of channels; `per_group`: parameters by group instead of channel.
Result<bool> bind_groups(BindScope& scope, int64_t groups, float epsilon, bool per_group);

}  // namespace mica::norm
