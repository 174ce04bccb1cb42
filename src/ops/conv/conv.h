// Attributes of convolution, and what its relatives (integer, quantized) share with it.
#pragma once
#include "types/infer.h"
#include "types/window.h"

namespace mica {

struct Conv {
  Ints strides, dilations, pads;
  AutoPad auto_pad = AutoPad::kNotSet;
  int64_t groups = 1;
  template <class V>
  void visit(V&& v) {
    v("strides", strides, "step per spatial axis; 1 when empty");
    v("dilations", dilations, "distance of the kernel's taps per spatial axis; 1 when empty");
    v("pads", pads, "zeros before each spatial axis, then after each; 0 when empty");
    v("auto_pad", auto_pad, "same_upper and same_lower: pads that give ceil(input / stride) outputs");
    v("groups", groups, "channels are split into so many independent convolutions");
  }
  WindowSpec window() const { return {strides, dilations, pads, auto_pad}; }
};

namespace conv {

// The result's shape for operands x [N,C,...] and w [M,C/groups,...]; unknown when a rank is. Errors name what
// disagrees.
inline Result<Shape> output_shape(InferScope& scope, const Conv& a, int x_input, int w_input) {
  MICA_TRY_STATUS(require_rank(scope, x_input, 2, kMaxRank));
  MICA_TRY_STATUS(require_rank(scope, w_input, 2, kMaxRank));
  MICA_CHECK(a.groups > 0, kBadAttribute, "`groups` is {}, expected at least 1", a.groups);
  const Shape &x = scope.shape(x_input), &w = scope.shape(w_input);
  if (!x.known()) return Shape();
  Shape out = Shape::of_rank(x.rank);
  out[0] = x[0];
  const int spatial = x.rank - 2;
  MICA_TRY_STATUS(check_window(a.window(), spatial));
  if (!w.known()) {
    for (int i = 1; i < x.rank; ++i) out[i] = scope.dims().fresh("conv");
    return out;
  }
  MICA_CHECK(w.rank == x.rank, kBadRank, "the weights have {} dimensions, the input {}", static_cast<int>(w.rank),
             static_cast<int>(x.rank));
  if (x[1].is_fixed() && w[1].is_fixed()) {
    int64_t channels = 0;
    MICA_CHECK(!__builtin_mul_overflow(w[1].value(), a.groups, &channels) && channels == x[1].value(), kBadShape,
               "the input has {} channels, the weights are for {} in {} groups", x[1].value(), w[1].value(), a.groups);
  }
  if (w[0].is_fixed())
    MICA_CHECK(w[0].value() % a.groups == 0, kBadShape, "{} output channels cannot be split into {} groups",
               w[0].value(), a.groups);
  out[1] = w[0];
  for (int i = 0; i < spatial; ++i) {
    MICA_TRY(out[i + 2], window_count(a.window(), {i, spatial}, x[i + 2], w[i + 2], scope.dims()));
  }
  return out;
}

// Operand `input` is left out or a vector of `count` (or, where `or_one`, one) elements.
inline Status require_vector(InferScope& scope, int input, Dim count, bool or_one = false) {
  if (!scope.has(input)) return {};
  const Shape& shape = scope.shape(input);
  if (!shape.known() || !shape.fixed() || !count.is_fixed()) return {};
  MICA_TRY(const int64_t elements, element_count(shape));
  MICA_CHECK((shape.rank <= 1 && elements == count.value()) || (or_one && elements == 1), kBadShape,
             "input {} has {} elements, expected {}", input, elements, count.value());
  return {};
}

// Operand 2, if there is one, is a bias for each channel of the result, of the type of operand `like`.
inline Status require_bias(InferScope& scope, int like, const Shape& result) {
  if (!scope.has(2)) return {};
  MICA_TRY_STATUS(require_same_dtype(scope, like, 2));
  MICA_TRY_STATUS(require_rank(scope, 2, 1, 1));
  return result.known() ? require_vector(scope, 2, result[1]) : Status();
}

// The sizes of one application.
struct Sizes {
  int64_t batch, groups, group_in, group_out;
  Window window;
};
inline Result<Sizes> sizes_of(const Conv& a, const TensorView& x, const TensorView& w) {
  MICA_CHECK(x.rank >= 2 && w.rank == x.rank, kBadRank, "input of {} and weights of {} dimensions", x.rank, w.rank);
  MICA_TRY(Window window, fixed_window(a.window(), x.shape().subspan(2), w.shape().subspan(2)));
  MICA_CHECK(a.groups > 0 && x.dim(1) == w.dim(1) * a.groups && w.dim(0) % a.groups == 0, kBadShape,
             "{} channels, weights {} x {}, {} groups", x.dim(1), w.dim(0), w.dim(1), a.groups);
  return Sizes{x.dim(0), a.groups, w.dim(1), w.dim(0) / a.groups, window};
}

template <class T>
struct Operands {
  const T *x, *w;
  const int64_t* table;  // window_table
};

// sums[N, M, positions] += Σ w · x over channels and taps, in T (double, or int64_t for integer types). Stops between
// two channels of the result when the run is to.
template <class T>
Status accumulate(RunScope& scope, const Sizes& s, const Operands<T>& o, T* sums) {
  const int64_t positions = s.window.positions(), taps = s.window.taps(), pixels = s.window.pixels();
  const int64_t in_channels = s.groups * s.group_in, out_channels = s.groups * s.group_out;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t m = 0; m < out_channels; ++m) {
      MICA_TRY_STATUS(scope.check_stop());
      T* sum = sums + (n * out_channels + m) * positions;
      const T* plane = o.x + (n * in_channels + m / s.group_out * s.group_in) * pixels;
      const T* weights = o.w + m * s.group_in * taps;
      for (int64_t c = 0; c < s.group_in; ++c, plane += pixels)
        for (int64_t t = 0; t < taps; ++t) {
          const T weight = *weights++;
          const int64_t* from = o.table + t * positions;
          for (int64_t p = 0; p < positions; ++p)
            if (from[p] >= 0) sum[p] += weight * plane[from[p]];
        }
    }
  return {};
}

// Output 0, which is allocated: x, whose elements are dense, by the weights in operand 1, plus the bias in operand 2.
Status convolve(RunScope& scope, const Sizes& s, const double* x);

inline Status allocate(RunScope& scope, const Sizes& s, int rank) {
  std::array<int64_t, kMaxRank> dims{};
  dims[0] = s.batch;
  dims[1] = s.groups * s.group_out;
  for (int i = 0; i < s.window.spatial; ++i) dims[static_cast<size_t>(i) + 2] = s.window.out[static_cast<size_t>(i)];
  return scope.allocate_output(0, std::span(dims.data(), static_cast<size_t>(rank)));
}

// Two operations for each tap of each output: outputs · channels of a group · taps.
inline int64_t flops(const CostScope& scope) {
  int64_t per_output = 2;
  const Shape& w = scope.inputs[1].shape;
  for (int i = 1; i < w.rank; ++i) per_output *= w[i].is_fixed() ? w[i].value() : 1;
  const auto outputs = element_count(scope.outputs[0].shape);
  return outputs.ok() ? *outputs * per_output : 0;
}

}  // namespace conv
}  // namespace mica
