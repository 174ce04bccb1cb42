// The numbers of one transposed convolution.
#pragma once
#include "ops/conv/conv_transpose.h"
#include "types/tensor.h"

namespace mica::conv {

inline Status check_transpose(const ConvTranspose& a, int spatial) {
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

// Sizes, and the window whose positions are the inputs and whose plane is the output: the convolution that this one
// transposes.
struct TransposeSizes {
  int64_t batch, groups, group_in, group_out;
  Window window;
  std::array<int64_t, kMaxRank> dims{};
};
inline Result<TransposeSizes> transpose_sizes(const ConvTranspose& a, const TensorView& x, const TensorView& w) {
  MICA_CHECK(x.rank >= 2 && w.rank == x.rank, kBadRank, "input of {} and weights of {} dimensions", x.rank, w.rank);
  const int spatial = x.rank - 2;
  MICA_TRY_STATUS(check_transpose(a, spatial));
  MICA_CHECK(x.dim(1) == w.dim(0) && w.dim(0) % a.groups == 0, kBadShape, "{} channels, weights for {} in {} groups",
             x.dim(1), w.dim(0), a.groups);
  TransposeSizes s{x.dim(0), a.groups, w.dim(0) / a.groups, w.dim(1), {}, {}};
  s.window.spatial = spatial;
  s.dims[0] = x.dim(0);
  s.dims[1] = w.dim(1) * a.groups;
  DimTable none;
  for (int i = 0; i < spatial; ++i) {
    const auto k = static_cast<size_t>(i);
    const TransposedAxis axis = transposed_axis(a, {i, spatial}, x.dim(i + 2), w.dim(i + 2), none);
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

}  // namespace mica::conv
