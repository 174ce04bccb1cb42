// Running reductions on vectors, for the families reduce and norm.
#pragma once
#include "kernels/math/math.inl"
#include "kernels/reduce/reduce.h"

namespace mica::MICA_ISA {

// A vector, or its first lanes at the end of a row.
MICA_INLINE F32 load_some(const float* p, int width) { return width == kLanes ? load(p) : load_partial(p, width); }
MICA_INLINE void store_some(float* p, F32 v, int width) {
  if (width == kLanes)
    store(p, v);
  else
    store_partial(p, v, width);
}

MICA_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

template <ReduceFunction kF>
MICA_INLINE F32 neutral() {
  if constexpr (kF == ReduceFunction::kMax) return set1(-__builtin_inff());
  if constexpr (kF == ReduceFunction::kMin) return set1(__builtin_inff());
  if constexpr (kF == ReduceFunction::kProd) return set1(1.0f);
  return zero();
}
// The running value with one more element.
template <ReduceFunction kF>
MICA_INLINE F32 with_element(F32 sum, F32 x) {
  if constexpr (kF == ReduceFunction::kMax) return max_nan(sum, x);
  if constexpr (kF == ReduceFunction::kMin) return min_nan(sum, x);
  if constexpr (kF == ReduceFunction::kProd) return mul(sum, x);
  if constexpr (kF == ReduceFunction::kSumOfAbs) return add(sum, abs(x));
  if constexpr (kF == ReduceFunction::kSumOfSquares) return fma(x, x, sum);
  return add(sum, x);
}
// Two running values together.
template <ReduceFunction kF>
MICA_INLINE F32 combined(F32 x, F32 y) {
  if constexpr (kF == ReduceFunction::kMax || kF == ReduceFunction::kMin || kF == ReduceFunction::kProd)
    return with_element<kF>(x, y);
  return add(x, y);
}
template <ReduceFunction kF>
MICA_INLINE float over_lanes(F32 v) {
  if constexpr (kF == ReduceFunction::kMax) return reduce_max(v);
  if constexpr (kF == ReduceFunction::kMin) return reduce_min(v);
  if constexpr (kF == ReduceFunction::kProd) {
    float lane[kLanes];
    store(lane, v);
    for (int half = kLanes / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lane[i] *= lane[i + half];
    return lane[0];
  }
  return reduce_add(v);
}

// Running values of blocks, combined as a binary counter carries: block k meets block k + 1, pairs meet pairs, and so
// on.
template <ReduceFunction kF>
struct Tree {
  static constexpr int kLevels = 40;
  F32 level[kLevels];
  uint64_t count = 0;
  MICA_INLINE void push(F32 v) {
    int i = 0;
    for (uint64_t bits = count; bits & 1; bits >>= 1) v = combined<kF>(level[i++], v);
    level[i] = v;
    ++count;
  }
  MICA_INLINE F32 result() const {
    F32 v = neutral<kF>();
    bool first = true;
    for (int i = 0; i < kLevels && count >> i; ++i) {
      if (!(count >> i & 1)) continue;
      v = first ? level[i] : combined<kF>(level[i], v);
      first = false;
    }
    return v;
  }
};

// Vectors per block: so many additions deep is the error before the tree.
inline constexpr int64_t kBlockVectors = 32;

// n elements `stride` floats apart.
template <ReduceFunction kF>
float reduce_run(const float* x, int64_t n, int64_t stride) {
  Tree<kF> tree;
  constexpr int64_t kBlock = kBlockVectors * kLanes;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t end = least(n, i + kBlock);
    F32 a = neutral<kF>(), b = a, c = a, d = a;
    int64_t k = i;
    const auto element = [&](int64_t at) { return stride == 1 ? load(x + at) : load_strided(x + at * stride, stride); };
    for (; k + 4 * kLanes <= end; k += 4 * kLanes) {
      a = with_element<kF>(a, element(k));
      b = with_element<kF>(b, element(k + kLanes));
      c = with_element<kF>(c, element(k + 2 * kLanes));
      d = with_element<kF>(d, element(k + 3 * kLanes));
    }
    for (; k + kLanes <= end; k += kLanes) a = with_element<kF>(a, element(k));
    if (k < end) {
      float lane[kLanes];
      store(lane, neutral<kF>());
      for (int64_t r = k; r < end; ++r) lane[r - k] = x[r * stride];
      b = with_element<kF>(b, load(lane));
    }
    tree.push(combined<kF>(combined<kF>(a, b), combined<kF>(c, d)));
  }
  return over_lanes<kF>(tree.result());
}

// Sum of e^(x - largest) over a row, blocked as reduce_run is; keeps the powers in `out` when it is not null.
inline float sum_of_powers(const float* x, int64_t n, float largest, float* out) {
  Tree<ReduceFunction::kSum> tree;
  const F32 top = set1(largest);
  constexpr int64_t kBlock = kBlockVectors * kLanes;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t end = least(n, i + kBlock);
    F32 sum = zero();
    for (int64_t k = i; k < end; k += kLanes) {
      const int width = static_cast<int>(least(kLanes, end - k));
      F32 e = exp_of(sub(load_some(x + k, width), top));
      if (out) store_some(out + k, e, width);
      if (width < kLanes) e = select(first_lanes(width), e, zero());
      sum = add(sum, e);
    }
    tree.push(sum);
  }
  return reduce_add(tree.result());
}

}  // namespace mica::MICA_ISA
