#include "ops/attention/causal_conv.h"

#include <cmath>

#include "types/dense.h"
#include "types/infer.h"
#include "types/stop.h"

namespace mica {
namespace {

enum Input { kX, kW, kBias, kPast };

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, kX));
  for (int i : {kX, kW}) {
    MICA_TRY_STATUS(require_rank(scope, i, 3, 3));
    MICA_TRY_STATUS(require_same_dtype(scope, kX, i));
  }
  scope.out(0, scope.type(kX));
  const Shape &x = scope.shape(kX), &w = scope.shape(kW);
  if (!x.known() || !w.known()) {
    scope.out(1, scope.dtype(kX), Shape());
    return {};
  }
  if (x[1].is_fixed() && w[0].is_fixed())
    MICA_CHECK(x[1] == w[0] && w[1].is(1), kBadShape, "{} channels, weights for {}", x[1].value(), w[0].value());
  if (w[2].is_fixed()) MICA_CHECK(w[2].value() > 0, kBadShape, "a kernel of {} taps", w[2].value());
  scope.out(1, scope.dtype(kX), Shape{x[0], x[1], scope.dims().sub(w[2], 1)});
  return {};
}

// The state is the last taps - 1 elements of the past and the input.
Status reference(RunScope& scope) {
  const TensorView &x = scope.in(kX), &w = scope.in(kW);
  MICA_CHECK(x.rank == 3 && w.rank == 3 && w.dim(0) == x.dim(1) && w.dim(1) == 1 && w.dim(2) > 0, kBadShape,
             "{} channels, weights for {}", x.rank == 3 ? x.dim(1) : -1, w.rank ? w.dim(0) : -1);
  const int64_t batch = x.dim(0), channels = x.dim(1), length = x.dim(2), taps = w.dim(2), past = taps - 1;
  MICA_TRY_STATUS(scope.allocate_output(0, x.shape()));
  MICA_TRY_STATUS(allocate_output(scope, 1, {batch, channels, past}));
  MICA_CHECK(!scope.has(kBias) || scope.in(kBias).count() == channels, kBadShape, "{} biases for {} channels",
             scope.in(kBias).count(), channels);
  MICA_CHECK(!scope.has(kPast) || scope.in(kPast).count() == batch * channels * past, kBadShape,
             "a past of {} elements, expected {} x {} x {}", scope.in(kPast).count(), batch, channels, past);
  MICA_TRY(double* line, zero_numbers(scope, past + length));
  MICA_TRY(const double* weights, dense_numbers(scope, w));
  const Elements in(x), y(scope.wants(0) ? scope.out(0) : x), state(scope.wants(1) ? scope.out(1) : x);
  StopCheck stop(scope);
  for (int64_t i = 0; i < batch * channels; ++i) {
    MICA_TRY_STATUS(stop.before(length * taps));
    for (int64_t t = 0; t < past; ++t) line[t] = scope.has(kPast) ? Elements(scope.in(kPast)).number(i * past + t) : 0;
    for (int64_t t = 0; t < length; ++t) line[past + t] = in.number(i * length + t);
    for (int64_t t = 0; scope.wants(0) && t < length; ++t) {
      double sum = scope.has(kBias) ? Elements(scope.in(kBias)).number(i % channels) : 0;
      for (int64_t k = 0; k < taps; ++k) sum += line[t + k] * weights[i % channels * taps + k];
      y.set_number(i * length + t, scope.attributes<CausalConv>().silu ? sum / (1 + std::exp(-sum)) : sum);
    }
    for (int64_t t = 0; scope.wants(1) && t < past; ++t) state.set_number(i * past + t, line[length + t]);
  }
  return {};
}

}  // namespace

MICA_OP(causal_conv) = {
    .name = "causal_conv",
    .doc = "depthwise convolution of [N,C,time] over present and past; inputs x, w, bias, past; outputs y, state",
    .inputs = {2, 4},
    .outputs = {1, 2},
    .attributes = attr_class<CausalConv>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
