#pragma once
#include "ops/move/view.h"
#include "step/copy_step.h"

namespace mica::move {

// The hook of operators that keep the order of elements. False when neither side's strides allow the other's shape.
Result<bool> bind_reshaped(BindScope& scope);

}  // namespace mica::move
