#include "ops/conv/conv_transpose.h"

#include "types/dense.h"
#include "types/infer.h"

namespace mica {
namespace {

Status check(const ConvTranspose& a, int spatial) {
  MICA_CHECK(a.groups > 0, kBadAttribute, "`groups` is {}, expected at least 1", a.groups);
  MICA_TRY_STATUS(check_window(a.window(), spatial));
  for (const Ints* list : {&a.output_padding, &a.output_shape}) {
    MICA_CHECK(list->empty() || list->size() == static_cast<size_t>(spatial), kBadAttribute,
               "`{}` has {} items, expected {}: one for each spatial axis",
               list == &a.output_shape ? "output_shape" : "output_padding", list->size(), spatial);
    for (int64_t v : *list)
      MICA_CHECK(v >= 0 && v < int64_t{1} << 31, kBadAttribute, "an output size or padding is {}", v);
  }
  return {};
}

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
  MICA_TRY_STATUS(check(a, spatial));
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

// Sizes, and the window whose positions are the inputs and whose plane is the output: the convolution that this one
// transposes.
struct Sizes {
  int64_t batch, groups, group_in, group_out;
  Window window;
  std::array<int64_t, kMaxRank> dims{};
};
Result<Sizes> sizes_of(const ConvTranspose& a, const TensorView& x, const TensorView& w) {
  MICA_CHECK(x.rank >= 2 && w.rank == x.rank, kBadRank, "input of {} and weights of {} dimensions", x.rank, w.rank);
  const int spatial = x.rank - 2;
  MICA_TRY_STATUS(check(a, spatial));
  MICA_CHECK(x.dim(1) == w.dim(0) && w.dim(0) % a.groups == 0, kBadShape, "{} channels, weights for {} in {} groups",
             x.dim(1), w.dim(0), a.groups);
  Sizes s{x.dim(0), a.groups, w.dim(0) / a.groups, w.dim(1), {}, {}};
  s.window.spatial = spatial;
  s.dims[0] = x.dim(0);
  s.dims[1] = w.dim(1) * a.groups;
  DimTable none;
  for (int i = 0; i < spatial; ++i) {
    const auto k = static_cast<size_t>(i);
    const conv::TransposedAxis axis = conv::transposed_axis(a, {i, spatial}, x.dim(i + 2), w.dim(i + 2), none);
    MICA_CHECK(axis.out.value() >= 0, kBadShape, "the output would have {} elements along spatial axis {}",
               axis.out.value(), i);
    s.dims[k + 2] = s.window.in[k] = axis.out.value();
    s.window.out[k] = x.dim(i + 2);
    s.window.kernel[k] = w.dim(i + 2);
    s.window.stride[k] = a.strides.get(k, 1);
    s.window.dilation[k] = a.dilations.get(k, 1);
    s.window.pad_begin[k] = axis.cut.value();
  }
  return s;
}

Status reference(RunScope& scope) {
  MICA_TRY(const Sizes s, sizes_of(scope.attributes<ConvTranspose>(), scope.in(0), scope.in(1)));
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(s.dims.data(), static_cast<size_t>(scope.in(0).rank))));
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
