// The forms of a constant operand that products and pointwise convolutions by other algorithms than the plain one read.
#pragma once
#include "kernels/gemm/algorithm.h"
#include "step/run.h"

namespace mica {

struct StrassenPacking {
  StrassenWeights weights;
  const GemmKernels* kernels;
};

inline void pack_strassen(const void* panels, void* to, const void* context, int64_t first, int64_t last) {
  const auto& p = *static_cast<const StrassenPacking*>(context);
  StrassenWeights weights = p.weights;
  weights.from = static_cast<const float*>(panels);
  weights.to = static_cast<float*>(to);
  p.kernels->strassen_weights(weights, first, last);
}

// Those of B · alpha, kept by `key`, from the panels of B that a file may hold, which have the key `panels`.
inline Result<const float*> strassen_ahead(BindScope& scope, const GemmProblem& p, float alpha, PackKey key,
                                           const PackKey& panels) {
  MICA_TRY(StrassenPacking * packing, scope.arguments<StrassenPacking>());
  *packing = {strassen_weights_of(p, alpha), &gemm_kernels(scope.machine->isa)};
  key.kind = static_cast<uint32_t>(PackKind::kStrassen16);
  MICA_TRY(const void* packed, scope.packed(1, {.key = key,
                                                .bytes = static_cast<size_t>(strassen_weights_size(p)) * sizeof(float),
                                                .context = packing,
                                                .from = panels,
                                                .pack_parts = pack_strassen,
                                                .parts = packing->weights.panels}));
  return static_cast<const float*>(packed);
}

struct PairedPacking {
  PairedWeights weights;
  const GemmKernels* kernels;
};

inline void pack_paired(const void* panels, void* to, const void* context, int64_t first, int64_t last) {
  const auto& p = *static_cast<const PairedPacking*>(context);
  PairedWeights weights = p.weights;
  weights.from = static_cast<const float*>(panels);
  weights.to = static_cast<float*>(to);
  p.kernels->paired_weights(weights, first, last);
}

// The scaled panels of B · alpha, likewise.
inline Result<const float*> paired_ahead(BindScope& scope, const GemmProblem& p, float alpha, PackKey key,
                                         const PackKey& panels) {
  MICA_TRY(PairedPacking * packing, scope.arguments<PairedPacking>());
  *packing = {{.k = p.k, .panels = panel_count(p.n), .alpha = alpha}, &gemm_kernels(scope.machine->isa)};
  key.kind = static_cast<uint32_t>(PackKind::kPaired16);
  MICA_TRY(const void* packed, scope.packed(1, {.key = key,
                                                .bytes = static_cast<size_t>(paired_weights_size(p)) * sizeof(float),
                                                .context = packing,
                                                .from = panels,
                                                .pack_parts = pack_paired,
                                                .parts = packing->weights.panels}));
  return static_cast<const float*>(packed);
}

}  // namespace mica
