#include "ops/matmul/product_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) { return matmul::bind_product(scope, {}); }

bool takes_residual(const BindScope& scope) { return matmul::takes_residual(scope, false, false); }

bool takes_permuted(const void*, std::span<const TensorView> inputs, size_t i) {
  return matmul::takes_permuted(inputs, i, false, false);
}

void forms(const BindScope& scope, FormOptions& options) { matmul::forms(scope, false, false, options); }

}  // namespace

MICA_RUN(matmul) = {.bind = bind,
                    .takes_residual = takes_residual,
                    .takes_permuted = kWithPermuted ? takes_permuted : nullptr,
                    .forms = kWithForms ? forms : nullptr};

}  // namespace mica
