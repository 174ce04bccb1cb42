// What softmax, log_softmax and hardmax share: types, and walking the groups of elements that are normalised together.
#pragma once
#include <cmath>

#include "ops/reduce/axes.h"
#include "ops/reduce/softmax.h"

namespace mica::reduce {

inline Result<AxisSet> softmax_axes(const Softmax& a, int rank) {
  AxisSet set;
  if (rank == 0) return set;
  // Flattening at the end of the shape leaves rows of one element.
  if (a.to_end && a.axis == rank) return set;
  MICA_TRY(const int axis, normalize_axis(a.axis, rank));
  for (int i = axis; i < (a.to_end ? rank : axis + 1); ++i) set.has[i] = true;
  return set;
}

inline Status infer_softmax(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  if (scope.shape(0).known()) {
    auto axes = softmax_axes(scope.attributes<Softmax>(), scope.shape(0).rank);
    if (!axes.ok()) return axes.take_error();
  }
  return infer_same(scope);
}

inline int64_t softmax_flops(const CostScope& scope) {
  auto n = element_count(scope.inputs[0].shape);
  return n.ok() ? 4 * *n : 0;
}

// What a group's elements are shifted by, so that no exponential overflows, and the sum of those; loads as in
// `for_each_row`.
struct SoftmaxSum {
  double largest = -INFINITY, sum = 0;
};
template <class Load>
SoftmaxSum softmax_sum(int64_t n, Load&& load) {
  SoftmaxSum s;
  for (int64_t i = 0; i < n; ++i) s.largest = std::fmax(s.largest, load(i));
  for (int64_t i = 0; i < n; ++i) s.sum += std::exp(load(i) - s.largest);
  return s;
}

// Calls row(n, load(i), store(i, number)) for each group.
template <class Row>
Status for_each_row(RunScope& scope, Row&& row) {
  const TensorView& x = scope.in(0);
  MICA_TRY_STATUS(scope.allocate_output(0, x.shape()));
  const TensorView& out = scope.out(0);
  if (x.empty()) return {};
  MICA_TRY(const AxisSet set, softmax_axes(scope.attributes<Softmax>(), x.rank));
  const Loops from = loops_of(x, set), to = loops_of(out, set);
  const int64_t n = from.inner_count();
  // The i-th element of a group, in source order.
  const auto offset = [](const Loops& loops, int64_t i) {
    int64_t sum = 0;
    for (int k = loops.inner_rank; k-- > 0;) {
      sum += i % loops.inner[k] * loops.inner_stride[k];
      i /= loops.inner[k];
    }
    return sum;
  };
  int64_t index[kMaxRank] = {};
  do {
    MICA_TRY_STATUS(scope.check_stop());
    const char* in = x.as<const char>() + offset_of(index, from.outer_stride, from.outer_rank);
    char* result = out.as<char>() + offset_of(index, to.outer_stride, to.outer_rank);
    row(
        n, [&](int64_t i) { return load_number(x.dtype, in + offset(from, i)); },
        [&](int64_t i, double v) { store_number(out.dtype, result + offset(to, i), v); });
  } while (next_index(index, from.outer_dims()));
  return {};
}

}  // namespace mica::reduce
