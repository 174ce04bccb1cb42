// Steps of element-wise work on integers and booleans: what comparisons, selection, conversion and quantization share.
#pragma once
#include "kernels/typed/typed.h"
#include "step/run.h"

namespace mica {

// False for types that the kernels do not read.
bool typed_element(DType dtype, TypedElement& out);

struct TypedSpec {
  TypedFunction function = TypedFunction::kConvert;
  DType from = DType::kF32, to = DType::kF32;  // as TypedKernels::find takes them
  int inputs = 1;                              // operands 0 … inputs - 1, broadcast to output 0
  bool dense_rows = false;                     // the row function takes rows of neighbours only (others: one element)
};
// Adds the step, whose inputs are `views` (the scope's, perhaps with axes inserted); false when it does not fit.
Result<bool> bind_typed(BindScope& scope, const TypedSpec& spec, std::span<const TensorView> views);
// The same on the scope's own inputs.
Result<bool> bind_typed(BindScope& scope, const TypedSpec& spec);

}  // namespace mica
