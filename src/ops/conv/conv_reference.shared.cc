#include "ops/conv/conv.h"
#include "types/dense.h"

namespace mica::conv {

Status convolve(RunScope& scope, const Sizes& s, const double* x) {
  MICA_TRY(const double* w, dense_numbers(scope, scope.in(1)));
  MICA_TRY(const int64_t* table, window_table(scope, s.window));
  const int64_t positions = s.window.positions(), channels = s.groups * s.group_out;
  MICA_TRY(double* sums, zero_numbers(scope, s.batch * channels * positions));
  if (scope.has(2)) {
    MICA_CHECK(scope.in(2).count() == channels, kBadShape, "{} biases for {} channels", scope.in(2).count(), channels);
    MICA_TRY(const double* bias, dense_numbers(scope, scope.in(2)));
    for (int64_t i = 0; i < s.batch * channels; ++i) std::fill_n(sums + i * positions, positions, bias[i % channels]);
  }
  MICA_TRY_STATUS(conv::accumulate<double>(scope, s, {x, w, table}, sums));
  store_dense(sums, scope.out(0));
  return {};
}

}  // namespace mica::conv
