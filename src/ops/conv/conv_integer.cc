#include "ops/conv/conv.h"
#include "types/dense.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  for (int i = 0; i < 2; ++i) {
    MICA_TRY_STATUS(require_tensor(scope, i));
    MICA_CHECK(is_byte(scope.dtype(i)), kBadType, "input {} must be i8 or u8, not {}", i, name_of(scope.dtype(i)));
    if (scope.has(i + 2)) MICA_TRY_STATUS(require_same_dtype(scope, i, i + 2));
  }
  MICA_TRY(const Shape shape, conv::output_shape(scope, scope.attributes<Conv>(), 0, 1));
  MICA_TRY_STATUS(conv::require_vector(scope, 2, 1));
  if (shape.known()) MICA_TRY_STATUS(conv::require_vector(scope, 3, shape[1], true));
  scope.out(0, DType::kI32, shape);
  return {};
}

// Padding stands for the zero point: it adds nothing.
Status reference(RunScope& scope) {
  MICA_TRY(const conv::Sizes s, conv::sizes_of(scope.attributes<Conv>(), scope.in(0), scope.in(1)));
  MICA_TRY_STATUS(conv::allocate(scope, s, scope.in(0).rank));
  MICA_TRY(int64_t * x, dense_integers(scope, scope.in(0)));
  MICA_TRY(int64_t * w, dense_integers(scope, scope.in(1)));
  MICA_TRY(const int64_t* table, window_table(scope, s.window));
  const int64_t channels = s.groups * s.group_out, per_channel = s.group_in * s.window.taps();
  if (scope.has(2)) {
    MICA_CHECK(scope.in(2).count() == 1, kBadShape, "the input has {} zero points, expected one", scope.in(2).count());
    const int64_t zero = Elements(scope.in(2)).integer(0);
    for (int64_t i = 0, n = scope.in(0).count(); i < n; ++i) x[i] -= zero;
  }
  if (scope.has(3)) {
    const int64_t count = scope.in(3).count();
    MICA_CHECK(count == 1 || count == channels, kBadShape, "{} zero points for {} channels", count, channels);
    const Elements zeros(scope.in(3));
    for (int64_t i = 0; i < channels * per_channel; ++i) w[i] -= zeros.integer(count == 1 ? 0 : i / per_channel);
  }
  MICA_TRY(int64_t * sums, zero_integers(scope, s.batch * channels * s.window.positions()));
  MICA_TRY_STATUS(conv::accumulate<int64_t>(scope, s, {x, w, table}, sums));
  store_dense(sums, scope.out(0));
  return {};
}

}  // namespace

MICA_OP(conv_integer) = {
    .name = "conv_integer",
    .doc = "convolution of (x - x_zero) with (w - w_zero) in 32-bit integers; inputs x, w, x_zero, w_zero",
    .inputs = {2, 4},
    .attributes = attr_class<Conv>(),
    .infer = infer,
    .reference = reference,
    .flops = conv::flops,
    .layout = LayoutRule::kChannelsLast};

}  // namespace mica
