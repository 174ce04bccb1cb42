// Gathers that are strided copies.
#pragma once
#include "step/run.h"

namespace mica {

// Adds the step of a gather whose constant indices go up (or down) by one step along each of their axes, as those of
// windows do. False for others, and for indices that count from the end.
Result<bool> bind_walk(BindScope& scope, int axis);

}  // namespace mica
