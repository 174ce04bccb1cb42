// Where a batch of a product's operands begins. Included by gemm.isa.cc.
#pragma once
#include "kernels/gemm/gemm.h"

namespace mica::MICA_ISA {

struct BatchPointers {
  const float* a;
  const float* b;
  float* c;
  const float* residual;
};

MICA_INLINE BatchPointers at_batch(const GemmArgs& g, int64_t batch) {
  const int64_t outer = batch / g.problem.batch[1], inner = batch % g.problem.batch[1];
  return {
      g.a + outer * g.a_batch[0] + inner * g.a_batch[1], g.b + outer * g.b_batch[0] + inner * g.b_batch[1],
      g.c + outer * g.c_batch[0] + inner * g.c_batch[1],
      g.epilogue.residual ? g.epilogue.residual + outer * g.residual_batch[0] + inner * g.residual_batch[1] : nullptr};
}

}  // namespace mica::MICA_ISA
