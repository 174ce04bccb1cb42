// Shape arithmetic that many operators share.
#pragma once
#include "types/op.h"

namespace mica {

// -rank … rank-1 to 0 … rank-1. Errors: kBadAttribute naming `what`.
Result<int> normalize_axis(int64_t axis, int rank, std::string_view what = "axis");
// NumPy's rule. A symbol against a fixed number > 1 takes the number; two different symbols give a max() expression.
// Errors: kBadShape with both shapes when fixed dimensions disagree.
Result<Shape> broadcast(const Shape& a, const Shape& b, DimTable& dims);

// Complete `infer` functions.
Status infer_same(InferScope& scope);       // output 0 = type of input 0
Status infer_pointwise(InferScope& scope);  // output 0 = broadcast of all inputs, dtype of input 0 (all dtypes equal)
Status infer_compare(InferScope& scope);    // as infer_pointwise, dtype bool
// Complete `reference` for operators whose OpDef::pointwise is set (one or two inputs; the OpDef is found by the
// caller's symbol).
Status reference_pointwise(RunScope& scope, const OpDef& op);

// Checks with messages that name the operand.
Status require_rank(const InferScope& scope, int input, int low, int high);
Status require_float(const InferScope& scope, int input);
Status require_same_dtype(const InferScope& scope, int a, int b);
Status require_tensor(const InferScope& scope, int input);

}  // namespace mica
