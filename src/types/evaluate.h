// Applies one operator to what is known of its operands: types first, then, where all that is needed is known, small
// contents. The compiler calls it with symbols, bind with numbers.
#pragma once
#include "types/op.h"

namespace mica {

struct EvaluateOptions {
  int64_t max_elements = kMaxKnownElements;  // larger results are not computed
};

// Fills scope.outputs: type, values, constant. Memory comes from scope.allocate. Errors: those of infer; kBadShape when
// an output has a negative fixed dimension. A reference that fails during evaluation leaves the contents unknown.
Status evaluate(const OpDef& op, InferScope& scope, const EvaluateOptions& options = {});

// What every operator asks before its own inference: the inputs that it needs are there, and tensors unless it takes
// objects.
Status check_inputs(const OpDef& op, const InferScope& scope);

}  // namespace mica
