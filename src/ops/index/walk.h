// Gathers that are strided copies.
#pragma once
#include "step/copy_step.h"

namespace mica {

// Constant indices that go up (or down) by one step along each of their axes, as those of windows do: the table with
// these axes instead, which overlap. False for others, and for indices that count from the end.
bool walk(const TensorView& table, const BoundOperand& indices, int axis, move::Side& side);

}  // namespace mica
