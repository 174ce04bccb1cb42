// The forms of a constant operand that products and pointwise convolutions by other algorithms than the plain one read.
#pragma once
#include "kernels/gemm/algorithm.h"
#include "step/run.h"

namespace mica {

template <class Weights>
struct FormPacking {
  Weights weights;
  void (*make)(const Weights& weights, int64_t first, int64_t last);  // an instruction set's
};

template <class Weights>
void pack_form(const void* panels, void* to, const void* context, int64_t first, int64_t last) {
  const auto& p = *static_cast<const FormPacking<Weights>*>(context);
  Weights weights = p.weights;
  weights.from = static_cast<const float*>(panels);
  weights.to = static_cast<float*>(to);
  p.make(weights, first, last);
}

// So many floats of a form, kept by `key`, from the panels of B that a file may hold, which have the key `panels`.
template <class Weights>
Result<const float*> form_ahead(BindScope& scope, const FormPacking<Weights>& how, int64_t floats, const PackKey& key,
                                const PackKey& panels) {
  MICA_TRY(FormPacking<Weights> * packing, scope.arguments<FormPacking<Weights>>());
  *packing = how;
  MICA_TRY(const void* packed, scope.packed(1, {.key = key,
                                                .bytes = static_cast<size_t>(floats) * sizeof(float),
                                                .context = packing,
                                                .from = panels,
                                                .pack_parts = pack_form<Weights>,
                                                .parts = how.weights.panels}));
  return static_cast<const float*>(packed);
}

// Of B · alpha, whose own panels would have the key `key`.
inline Result<const float*> strassen_ahead(BindScope& scope, const GemmProblem& p, float alpha, PackKey key,
                                           const PackKey& panels) {
  key.kind = static_cast<uint32_t>(PackKind::kStrassen16);
  return form_ahead<StrassenWeights>(scope,
                                     {strassen_weights_of(p, alpha), gemm_kernels(scope.machine->isa).strassen_weights},
                                     strassen_weights_size(p), key, panels);
}
inline Result<const float*> paired_ahead(BindScope& scope, const GemmProblem& p, float alpha, PackKey key,
                                         const PackKey& panels) {
  key.kind = static_cast<uint32_t>(PackKind::kPaired16);
  return form_ahead<PairedWeights>(
      scope, {{.k = p.k, .panels = panel_count(p.n), .alpha = alpha}, gemm_kernels(scope.machine->isa).paired_weights},
      paired_weights_size(p), key, panels);
}

}  // namespace mica
