// The algorithm of a step of any family that has several.
#pragma once
#include "ops/conv/conv_transpose_step.h"
#include "ops/matmul/product_step.h"

namespace mica {

// False when the step, which its kernel tells, is of no such family.
inline bool explain_any_step(KernelFn kernel, const void* arguments, std::span<char> text, Explanation& out) {
  return conv::explain_step(kernel, arguments, text, out) ||
         conv::explain_transpose_step(kernel, arguments, text, out) ||
         matmul::explain_product_step(kernel, arguments, text, out);
}

}  // namespace mica
