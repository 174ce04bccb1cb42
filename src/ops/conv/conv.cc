#include "ops/conv/conv.h"

#include "types/dense.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 1));
  MICA_TRY(const Shape shape, conv::output_shape(scope, scope.attributes<Conv>(), 0, 1));
  if (scope.has(2)) {
    MICA_TRY_STATUS(require_same_dtype(scope, 0, 2));
    MICA_TRY_STATUS(require_rank(scope, 2, 1, 1));
    if (shape.known()) MICA_TRY_STATUS(conv::require_vector(scope, 2, shape[1]));
  }
  scope.out(0, scope.dtype(0), shape);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const conv::Sizes s, conv::sizes_of(scope.attributes<Conv>(), scope.in(0), scope.in(1)));
  MICA_TRY_STATUS(conv::allocate(scope, s, scope.in(0).rank));
  MICA_TRY(const double* x, dense_numbers(scope, scope.in(0)));
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

}  // namespace

MICA_OP(conv) = {.name = "conv",
                 .doc = "convolution of x [N,C,...] with w [M,C/groups,...], plus a bias [M]",
                 .inputs = {2, 3},
                 .attributes = attr_class<Conv>(),
                 .infer = infer,
                 .reference = reference,
                 .flops = conv::flops,
                 .layout = LayoutRule::kChannelsLast};

}  // namespace mica
