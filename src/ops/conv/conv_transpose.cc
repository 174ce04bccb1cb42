#include "ops/conv/conv_transpose.h"

#include "ops/conv/conv_transpose_sizes.h"
#include "types/dense.h"
#include "types/infer.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<ConvTranspose>();
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 1));
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  MICA_TRY_STATUS(require_rank(scope, 1, 2, kMaxRank));
  if (scope.has(2)) {
    MICA_TRY_STATUS(require_same_dtype(scope, 0, 2));
    MICA_TRY_STATUS(require_rank(scope, 2, 1, 1));
  }
  const Shape &x = scope.shape(0), &w = scope.shape(1);
  scope.out(0, scope.dtype(0), Shape());
  if (!x.known()) return {};
  const int spatial = x.rank - 2;
  MICA_TRY_STATUS(conv::check_transpose(a, spatial));
  Shape out = Shape::of_rank(x.rank);
  out[0] = x[0];
  if (!w.known()) {
    for (int i = 1; i < x.rank; ++i) out[i] = scope.dims().fresh("conv");
  } else {
    MICA_CHECK(w.rank == x.rank, kBadRank, "the weights have {} dimensions, the input {}", static_cast<int>(w.rank),
               static_cast<int>(x.rank));
    if (x[1].is_fixed() && w[0].is_fixed())
      MICA_CHECK(x[1] == w[0] && w[0].value() % a.groups == 0, kBadShape,
                 "the input has {} channels, the weights are for {} in {} groups", x[1].value(), w[0].value(),
                 a.groups);
    out[1] = scope.dims().mul(w[1], a.groups);
    for (int i = 0; i < spatial; ++i) {
      out[i + 2] = conv::transposed_axis(a, {i, spatial}, x[i + 2], w[i + 2], scope.dims()).out;
      if (out[i + 2].is_fixed())
        MICA_CHECK(out[i + 2].value() >= 0, kBadShape, "the output would have {} elements along spatial axis {}",
                   out[i + 2].value(), i);
    }
    if (scope.has(2) && out[1].is_fixed() && scope.shape(2).known() && scope.shape(2)[0].is_fixed())
      MICA_CHECK(scope.shape(2)[0] == out[1], kBadShape, "{} biases for {} channels", scope.shape(2)[0].value(),
                 out[1].value());
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const conv::TransposeSizes s,
           conv::transpose_sizes(scope.attributes<ConvTranspose>(), scope.in(0), scope.in(1)));
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(s.dims.data(), static_cast<size_t>(scope.in(0).rank))));
  if (scope.out(0).empty()) return {};
  MICA_TRY(const double* x, dense_numbers(scope, scope.in(0)));
  MICA_TRY(const double* w, dense_numbers(scope, scope.in(1)));
  MICA_TRY(const int64_t* table, window_table(scope, s.window));
  const int64_t inputs = s.window.positions(), taps = s.window.taps(), outputs = s.window.pixels();
  const int64_t in_channels = s.groups * s.group_in, out_channels = s.groups * s.group_out;
  MICA_TRY(double* sums, zero_numbers(scope, s.batch * out_channels * outputs));
  if (scope.has(2)) {
    MICA_CHECK(scope.in(2).count() == out_channels, kBadShape, "{} biases for {} channels", scope.in(2).count(),
               out_channels);
    MICA_TRY(const double* bias, dense_numbers(scope, scope.in(2)));
    for (int64_t i = 0; i < s.batch * out_channels; ++i)
      std::fill_n(sums + i * outputs, outputs, bias[i % out_channels]);
  }
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t c = 0; c < in_channels; ++c) {
      MICA_TRY_STATUS(scope.check_stop());
      const double* from = x + (n * in_channels + c) * inputs;
      const int64_t group = c / s.group_in;
      for (int64_t m = 0; m < s.group_out; ++m) {
        double* to = sums + (n * out_channels + group * s.group_out + m) * outputs;
        for (int64_t t = 0; t < taps; ++t) {
          const double weight = w[(c * s.group_out + m) * taps + t];
          for (int64_t p = 0; p < inputs; ++p)
            if (const int64_t place = table[t * inputs + p]; place >= 0) to[place] += weight * from[p];
        }
      }
    }
  store_dense(sums, scope.out(0));
  return {};
}

// Two operations for each input, tap and output channel of its group.
int64_t flops(const CostScope& scope) {
  int64_t per_input = 2;
  const Shape& w = scope.inputs[1].shape;
  for (int i = 1; i < w.rank; ++i) per_input *= w[i].is_fixed() ? w[i].value() : 1;
  const auto inputs = element_count(scope.inputs[0].shape);
  return inputs.ok() ? *inputs * per_input : 0;
}

}  // namespace

MICA_OP(conv_transpose) = {.name = "conv_transpose",
                           .doc = "transposed convolution of x [N,C,...] with w [C,M/groups,...], plus a bias [M]",
                           .inputs = {2, 3},
                           .attributes = attr_class<ConvTranspose>(),
                           .infer = infer,
                           .reference = reference,
                           .flops = flops,
                           .layout = LayoutRule::kChannelsLast};

}  // namespace mica
