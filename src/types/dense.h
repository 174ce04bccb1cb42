// Operands of references as dense lists of numbers, so that loops over them are plain and fast whatever the type and
// strides.
#pragma once
#include "types/op.h"

namespace mica {

// The elements in source order, in memory of the scope (until the operator returns). Null data for empty views is never
// read.
Result<double*> dense_numbers(RunScope& scope, const TensorView& view);
Result<int64_t*> dense_integers(RunScope& scope, const TensorView& view);
// `count` zeros.
Result<double*> zero_numbers(RunScope& scope, int64_t count);
Result<int64_t*> zero_integers(RunScope& scope, int64_t count);
// Rounds (floats) or truncates and wraps (integers: `integers` form) each number once into the view.
void store_dense(const double* numbers, const TensorView& view);
void store_dense(const int64_t* integers, const TensorView& view);

// scope.allocate_output for a list in place.
Status allocate_output(RunScope& scope, int i, std::initializer_list<int64_t> dims);

}  // namespace mica
