// Which axes a reduction runs over.
#pragma once
#include "types/infer.h"

namespace mica::reduce {

struct AxisSet {
  bool has[kMaxRank] = {};
  bool operator[](int i) const { return has[i]; }
};

// Errors: kBadAttribute for an axis out of range; one named twice counts once.
inline Result<AxisSet> axis_set(std::span<const int64_t> axes, int rank, bool all_when_empty) {
  AxisSet set;
  for (int64_t axis : axes) {
    MICA_TRY(const int i, normalize_axis(axis, rank, "axes"));
    set.has[i] = true;
  }
  if (axes.empty() && all_when_empty) std::fill_n(set.has, rank, true);
  return set;
}

// The shape that is left. Of a scalar it is a scalar.
inline Shape reduced_shape(const Shape& in, const AxisSet& set, bool keep_dims) {
  Shape out = Shape::of_rank(0);
  for (int i = 0; i < in.rank; ++i) {
    if (!set[i])
      out.push(in[i]);
    else if (keep_dims)
      out.push(1);
  }
  return out;
}

// The shape when axes become known only at run time: right in rank where that is possible.
inline Shape unknown_shape(const Shape& in, bool keep_dims, DimTable& dims) {
  if (!in.known() || !keep_dims) return Shape();
  Shape out = Shape::of_rank(in.rank);
  for (int i = 0; i < in.rank; ++i) out[i] = dims.fresh("reduced");
  return out;
}

// A reduction seen as loops: `outer` runs over what is kept, `inner` over what is reduced, both with x's byte strides.
struct Loops {
  int outer_rank = 0, inner_rank = 0;
  int64_t outer[kMaxRank], outer_stride[kMaxRank], inner[kMaxRank], inner_stride[kMaxRank];
  int64_t inner_count() const {
    int64_t n = 1;
    for (int i = 0; i < inner_rank; ++i) n *= inner[i];
    return n;
  }
  std::span<const int64_t> outer_dims() const { return {outer, static_cast<size_t>(outer_rank)}; }
  std::span<const int64_t> inner_dims() const { return {inner, static_cast<size_t>(inner_rank)}; }
};
inline Loops loops_of(const TensorView& x, const AxisSet& set) {
  Loops loops;
  for (int i = 0; i < x.rank; ++i) {
    int& n = set[i] ? loops.inner_rank : loops.outer_rank;
    (set[i] ? loops.inner : loops.outer)[n] = x.dim(i);
    (set[i] ? loops.inner_stride : loops.outer_stride)[n] = x.stride(i);
    ++n;
  }
  return loops;
}
inline int64_t offset_of(const int64_t* index, const int64_t* strides, int rank) {
  int64_t offset = 0;
  for (int i = 0; i < rank; ++i) offset += index[i] * strides[i];
  return offset;
}

}  // namespace mica::reduce
