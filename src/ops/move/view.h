// Views that several movement operators have in common.
#pragma once
#include <algorithm>

#include "types/operand.h"

namespace mica::move {

// The source-order reading of `in` under other dims, by strides alone. Axes of both sides fall into the smallest groups
// of equal products; within a group the input's axes must be evenly spaced, so that they act as one. False when they
// are not, or for sub-byte elements.
bool reshape_view(const TensorView& in, std::span<const int64_t> dims, TensorView& out);

// Copies source-order elements between views of equal count, whatever their shapes.
Status copy_linear(RunScope& scope, const TensorView& from, const TensorView& to);

// The reference of operators that keep the order of elements and change the shape alone: input 0 to output 0.
Status copy_reshaped(RunScope& scope);

bool view_reshaped(const RunScope& scope, const TensorView& in, TensorView& out, int);

}  // namespace mica::move
