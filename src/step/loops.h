// Axes of operands as loops with strides in elements: what hooks hand to kernels instead of tensors.
#pragma once
#include "types/tensor.h"

namespace mica {

// Loops over two operands at once, outermost first.
struct PairLoops {
  int count = 0;
  int64_t dims[kMaxRank] = {}, a[kMaxRank] = {}, b[kMaxRank] = {};

  int64_t size() const {
    int64_t n = 1;
    for (int i = 0; i < count; ++i) n *= dims[i];
    return n;
  }
  // Axes of size 1 are dropped. Strides in bytes become elements of `bytes`.
  void push(int64_t dim, int64_t a_stride, int64_t b_stride, int64_t bytes) {
    if (dim == 1) return;
    dims[count] = dim;
    a[count] = a_stride / bytes;
    b[count++] = b_stride / bytes;
  }
  // Orders by falling stride of `a` and merges loops that continue each other in both.
  void merge();
};

// Axes first ... last - 1 of two tensors of one shape.
inline PairLoops loops_between(const TensorView& x, const TensorView& y, int first, int last) {
  PairLoops loops;
  for (int i = first; i < last; ++i) loops.push(x.dim(i), x.stride(i), y.stride(i), element_bytes(x.dtype));
  loops.merge();
  return loops;
}

// All axes as one run of neighbours in both tensors (also none, and a single element).
inline bool is_run(const PairLoops& loops) {
  return loops.count == 0 || (loops.count == 1 && loops.a[0] == 1 && loops.b[0] == 1);
}

// Axes [first, last) as one, in elements. False when they are not evenly spaced.
inline bool join_axes(const TensorView& view, int first, int last, int64_t& count, int64_t& step) {
  count = 1;
  step = 0;
  for (int i = last; i-- > first;) {
    if (view.dim(i) == 1) continue;
    const int64_t stride = view.stride(i) / element_bytes(view.dtype);
    if (count != 1 && stride != step * count) return false;
    if (count == 1) step = stride;
    count *= view.dim(i);
  }
  return true;
}

inline bool strides_fit(const TensorView& view) {
  for (int i = 0; i < view.rank; ++i)
    if (view.stride(i) < 0 || view.stride(i) % element_bytes(view.dtype)) return false;
  return true;
}

}  // namespace mica
