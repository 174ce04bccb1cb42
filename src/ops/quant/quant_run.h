// What the hooks of quantization share.
#pragma once
#include "step/typed.h"
#include "types/infer.h"

namespace mica::quant {

// Per tensor and per axis; blocks are left to the reference. `axis` has no meaning for one scale.
inline Result<bool> bind_linear(BindScope& scope, const TypedSpec& spec, int64_t given_axis, int64_t block) {
  const TensorView& x = scope.input(0).view;
  if (scope.input(1).view.dtype != DType::kF32 || block != 0 || x.empty()) return false;
  TensorView views[3] = {x, scope.input(1).view, scope.input(2).view};
  TypedSpec own = spec;
  own.inputs = scope.has(2) ? 3 : 2;
  own.dense_rows = true;
  const int64_t given = given_axis < 0 ? given_axis + x.rank : given_axis;
  const int axis = given < 0 || given >= x.rank ? 0 : static_cast<int>(given);
  for (int k = 1; k < own.inputs; ++k) {
    TensorView& view = views[k];
    const int64_t n = view.count(), stride = view.rank ? view.stride(view.rank - 1) : 0;
    view.rank = n == 1 ? 0 : x.rank - axis;
    for (int i = 0; i < view.rank; ++i) view.dims[static_cast<size_t>(i)] = i ? 1 : n;
    view.strides = {};
    view.strides[0] = stride;
  }
  return bind_typed(scope, own, std::span<const TensorView>(views, static_cast<size_t>(own.inputs)));
}

// Operands of an epilogue stand behind the operator's own, where a missing zero point would be.
inline bool has_epilogue_operands(const BindScope& scope) {
  for (int i = 0; i < scope.epilogue.count; ++i)
    if (scope.epilogue.ops[i].operand >= 0) return true;
  return false;
}

}  // namespace mica::quant
