// What the stages of a model cost in arithmetic and in memory traffic, for the sizes of a session's inputs.
#pragma once
#include <vector>

#include "runtime/session.h"

namespace mica {

struct StageCost {
  int64_t flops = 0;           // a multiply-add counts two; an epilogue one for each function and element
  int64_t bytes = 0;           // of the operands that are read and written, each once
  int64_t constant_bytes = 0;  // of those, constants
  bool bytes_product = false;  // of 8-bit integers
};

// One for each stage of the main function, of what the session prepared or ran last. Sizes are those of tensors, never
// the model's expressions, which mean nothing beside another table. Shapes that depend on data are not known here: such
// stages, and what stands in regions, cost nothing. Errors: kState before a prepare, those of inference.
Result<std::vector<StageCost>> stage_costs(const Session& session);

}  // namespace mica
