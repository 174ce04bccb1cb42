// Pooling over all spatial axes: [N,C,...] to [N,C,1,...].
#pragma once
#include "types/dense.h"
#include "types/infer.h"

namespace mica {

struct GlobalLpPool {
  int64_t p = 2;
  template <class V>
  void visit(V&& v) {
    v("p", p, "the norm's exponent");
  }
};

namespace pool {

inline Status infer_global(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  Shape out = scope.shape(0);
  for (int i = 2; i < out.rank; ++i) out[i] = 1;
  scope.out(0, scope.dtype(0), out);
  return {};
}

// reduce(x, count): the number that stands for a plane.
template <class Reduce>
Status run_global(RunScope& scope, Reduce reduce) {
  const TensorView& x = scope.in(0);
  MICA_CHECK(x.rank >= 2, kBadRank, "pooling over {} dimensions", x.rank);
  std::array<int64_t, kMaxRank> dims;
  dims.fill(1);
  dims[0] = x.dim(0);
  dims[1] = x.dim(1);
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(dims.data(), static_cast<size_t>(x.rank))));
  MICA_TRY(const double* numbers, dense_numbers(scope, x));
  const int64_t planes = dims[0] * dims[1], count = planes ? x.count() / planes : 0;
  const Elements y(scope.out(0));
  for (int64_t i = 0; i < planes; ++i) y.set_number(i, reduce(numbers + i * count, count));
  return {};
}

// One operation for each element of the input.
inline int64_t global_flops(const CostScope& scope) {
  const auto inputs = element_count(scope.inputs[0].shape);
  return inputs.ok() ? *inputs : 0;
}

}  // namespace pool
}  // namespace mica
