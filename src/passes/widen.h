// Half-precision graphs computed in single precision.
//
// Goal: products and convolutions of f16 or bf16 run on the single-precision kernels, with one rounding at the model's
// edges instead of one behind every node: at least as exact as the source asks. Non-goals: half-precision arithmetic,
// which needs kernels of its own. Cost: linear in nodes; the weights double in memory.
#pragma once
#include "ir/graph.h"

namespace mica {

// Returns how many values became f32; 0 when the graph has no half-precision product or has regions. Throws Failure.
int64_t widen_half(Graph& graph);

}  // namespace mica
