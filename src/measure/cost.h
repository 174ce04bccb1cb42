// What the stages of a plan cost in arithmetic and in memory traffic, for given shapes.
#pragma once
#include <vector>

#include "plan/plan.h"

namespace mica {

struct StageCost {
  int64_t flops = 0;           // a multiply-add counts two; an epilogue one for each function and element
  int64_t bytes = 0;           // of the operands that are read and written, each once
  int64_t constant_bytes = 0;  // of those, constants
  bool bytes_product = false;  // of 8-bit integers
};

// One for each stage of the main function. Shapes that depend on data are not known here: such stages, and what stands
// in regions, cost nothing. Errors: those of inference.
Result<std::vector<StageCost>> stage_costs(const Plan& plan, std::span<const Type> inputs);

}  // namespace mica
