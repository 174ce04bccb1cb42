#include "ops/matmul/gemm.h"

#include <algorithm>

#include "ops/matmul/product_step.h"

namespace mica {
namespace {

// The summand is one number for each column (a bias), or a whole matrix (a residual); others are left to the reference.
MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& g = scope.attributes<Gemm>();
  matmul::ProductOptions options{.flip_a = g.transpose_a, .flip_b = g.transpose_b, .alpha = g.alpha};
  if (own_inputs(scope) > 2 && scope.has(2) && g.beta != 0) {
    const TensorView &sum = scope.input(2).view, &out = scope.output(0).view;
    if (g.beta != 1 || sum.rank == 0) return false;
    const bool adjacent = sum.dim(sum.rank - 1) <= 1 || sum.stride(sum.rank - 1) == static_cast<int64_t>(sizeof(float));
    const bool one_row = (sum.rank == 1 || sum.dim(0) == 1) && sum.dim(sum.rank - 1) == out.dim(1);
    if (one_row && adjacent)
      options.bias = 2;
    else if (std::ranges::equal(sum.shape(), out.shape()))
      options.residual = 2;
    else
      return false;
  }
  return matmul::bind_product(scope, options);
}

bool takes_residual(const BindScope& scope) {
  const auto& g = scope.attributes<Gemm>();
  return matmul::takes_residual(scope, g.transpose_a, g.transpose_b);
}

bool takes_permuted(const void* attributes_blob, std::span<const TensorView> inputs, size_t i) {
  const auto& g = *static_cast<const Gemm*>(attributes_blob);
  return matmul::takes_permuted(inputs, i, g.transpose_a, g.transpose_b);
}

void forms(const BindScope& scope, FormOptions& options) {
  const auto& g = scope.attributes<Gemm>();
  matmul::forms(scope, g.transpose_a, g.transpose_b, options);
}

}  // namespace

MICA_RUN(gemm) = {.bind = bind,
                  .takes_residual = takes_residual,
                  .takes_permuted = kWithPermuted ? takes_permuted : nullptr,
                  .forms = kWithForms ? forms : nullptr};

}  // namespace mica
