#include "ops/conv/conv.h"
#include "types/dense.h"
#include "types/requantize.h"

namespace mica {
namespace {

enum Input { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

Status infer(InferScope& scope) {
  for (int i : {kX, kW, kYZero}) {
    MICA_TRY_STATUS(require_tensor(scope, i));
    MICA_CHECK(is_byte(scope.dtype(i)), kBadType, "input {} must be i8 or u8, not {}", i, name_of(scope.dtype(i)));
  }
  for (int i : {kXScale, kWScale, kYScale}) MICA_TRY_STATUS(require_float(scope, i));
  MICA_TRY_STATUS(require_same_dtype(scope, kX, kXZero));
  MICA_TRY_STATUS(require_same_dtype(scope, kW, kWZero));
  if (scope.has(kBias))
    MICA_CHECK(scope.dtype(kBias) == DType::kI32, kBadType, "the bias must be i32, not {}",
               name_of(scope.dtype(kBias)));
  MICA_TRY(const Shape shape, conv::output_shape(scope, scope.attributes<Conv>(), kX, kW));
  for (int i : {kXScale, kXZero, kYScale, kYZero}) MICA_TRY_STATUS(conv::require_vector(scope, i, 1));
  if (shape.known()) {
    MICA_TRY_STATUS(conv::require_vector(scope, kWScale, shape[1], true));
    MICA_TRY_STATUS(conv::require_vector(scope, kWZero, shape[1], true));
    MICA_TRY_STATUS(conv::require_vector(scope, kBias, shape[1]));
  }
  scope.out(0, scope.dtype(kYZero), shape);
  return {};
}

Status check_counts(const RunScope& scope, int64_t channels) {
  for (int i : {kXScale, kXZero, kYScale, kYZero})
    MICA_CHECK(scope.in(i).count() == 1, kBadShape, "input {} has {} elements, expected one", i, scope.in(i).count());
  for (int i : {kWScale, kWZero}) {
    const int64_t count = scope.in(i).count();
    MICA_CHECK(count == 1 || count == channels, kBadShape, "input {} has {} elements, expected 1 or {}", i, count,
               channels);
  }
  if (scope.has(kBias))
    MICA_CHECK(scope.in(kBias).count() == channels, kBadShape, "{} biases for {} channels", scope.in(kBias).count(),
               channels);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const conv::Sizes s, conv::sizes_of(scope.attributes<Conv>(), scope.in(kX), scope.in(kW)));
  MICA_TRY_STATUS(conv::allocate(scope, s, scope.in(kX).rank));
  const int64_t channels = s.groups * s.group_out, per_channel = s.group_in * s.window.taps(),
                positions = s.window.positions();
  MICA_TRY_STATUS(check_counts(scope, channels));
  MICA_TRY(int64_t * x, dense_integers(scope, scope.in(kX)));
  MICA_TRY(int64_t * w, dense_integers(scope, scope.in(kW)));
  MICA_TRY(const int64_t* table, window_table(scope, s.window));
  const int64_t x_zero = zero_point(&scope.in(kXZero)), y_zero = zero_point(&scope.in(kYZero));
  for (int64_t i = 0, n = scope.in(kX).count(); i < n; ++i) x[i] -= x_zero;
  for (int64_t i = 0; i < channels * per_channel; ++i) w[i] -= zero_point(&scope.in(kWZero), i / per_channel);
  MICA_TRY(int64_t * sums, zero_integers(scope, s.batch * channels * positions));
  MICA_TRY_STATUS(conv::accumulate<int64_t>(scope, s, {x, w, table}, sums));
  const auto x_scale = static_cast<float>(Elements(scope.in(kXScale)).number(0));
  const auto y_scale = static_cast<float>(Elements(scope.in(kYScale)).number(0));
  const Elements w_scale(scope.in(kWScale));
  const bool one_scale = scope.in(kWScale).count() == 1;
  const IntegerRange range = range_of_i8(scope.out(0).dtype);
  for (int64_t i = 0; i < s.batch * channels; ++i) {
    const int64_t m = i % channels, bias = scope.has(kBias) ? Elements(scope.in(kBias)).integer(m) : 0;
    const float multiplier =
        requantize_multiplier(x_scale, static_cast<float>(w_scale.number(one_scale ? 0 : m)), y_scale);
    for (int64_t p = 0; p < positions; ++p) {
      int64_t& sum = sums[i * positions + p];
      sum = requantize(static_cast<int32_t>(sum + bias), multiplier, y_zero, range);
    }
  }
  store_dense(sums, scope.out(0));
  return {};
}

// As conv, whose weights stand at input 1.
int64_t flops(const CostScope& scope) {
  int64_t per_output = 2;
  const Shape& w = scope.inputs[kW].shape;
  for (int i = 1; i < w.rank; ++i) per_output *= w[i].is_fixed() ? w[i].value() : 1;
  const auto outputs = element_count(scope.outputs[0].shape);
  return outputs.ok() ? *outputs * per_output : 0;
}

}  // namespace

MICA_OP(qlinear_conv) = {
    .name = "qlinear_conv",
    .doc = "8-bit convolution; inputs x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero and an i32 bias",
    .inputs = {8, 9},
    .attributes = attr_class<Conv>(),
    .infer = infer,
    .reference = reference,
    .flops = flops,
    .layout = LayoutRule::kChannelsLast};

}  // namespace mica
