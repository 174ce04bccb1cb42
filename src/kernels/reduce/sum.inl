// Running reductions on vectors, for the families reduce and norm.
#pragma once
#include "kernels/math/math.inl"
#include "kernels/reduce/reduce.h"

namespace mica::MICA_ISA {

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
// Lanes that a sum along a row is spread over: the same number on every set with fused multiply-add, so that all of
// them add in the same order and give the same bits. Sets without round products differently anyway.
inline constexpr int kSumLanes = kHasFma ? 16 : kLanes;
inline constexpr int kSumParts = kSumLanes / kLanes;
static_assert(kSumLanes % kLanes == 0);

// Running values; part p has the lanes from p * kLanes.
template <int kParts>
struct Lanes {
  F32 part[kParts];
};
using Sums = Lanes<kSumParts>;
template <ReduceFunction kF>
MICA_INLINE Sums neutral_sums() {
  Sums s;
  MICA_UNROLL for (int p = 0; p < kSumParts; ++p) s.part[p] = neutral<kF>();
  return s;
}
template <ReduceFunction kF, int kParts>
MICA_INLINE Lanes<kParts> combined(Lanes<kParts> x, const Lanes<kParts>& y) {
  MICA_UNROLL for (int p = 0; p < kParts; ++p) x.part[p] = combined<kF>(x.part[p], y.part[p]);
  return x;
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
// Upper halves meet lower ones until one lane is left, as within a vector.
template <ReduceFunction kF>
MICA_INLINE float over_lanes(Sums s) {
  MICA_UNROLL for (int half = kSumParts / 2; half > 0; half /= 2) MICA_UNROLL for (int p = 0; p < half; ++p) s.part[p] =
      combined<kF>(s.part[p], s.part[p + half]);
  return over_lanes<kF>(s.part[0]);
}

// Running values of blocks, combined as a binary counter carries: block k meets block k + 1, pairs meet pairs, and so
// on.
template <ReduceFunction kF, int kParts>
struct Tree {
  using V = Lanes<kParts>;
  static constexpr int kLevels = 40;
  V level[kLevels];
  uint64_t count = 0;
  MICA_INLINE void push(V v) {
    int i = 0;
    for (uint64_t bits = count; bits & 1; bits >>= 1) v = combined<kF>(level[i++], v);
    level[i] = v;
    ++count;
  }
  // Of at least one block.
  MICA_INLINE V result() const {
    int i = 0;
    while (!(count >> i & 1)) ++i;
    V v = level[i];
    for (++i; i < kLevels && count >> i; ++i)
      if (count >> i & 1) v = combined<kF>(level[i], v);
    return v;
  }
};

// Vectors of kSumLanes per block: so many additions deep is the error before the tree.
inline constexpr int64_t kBlockVectors = 32;

inline constexpr int64_t kSumBlock = kBlockVectors * kSumLanes;

// A block of n <= kSumBlock elements.
template <ReduceFunction kF>
MICA_INLINE Sums block_sums(const float* x, int64_t n) {
  Sums a = neutral_sums<kF>(), b = a, c = a, d = a;
  int64_t k = 0;
  const auto take = [&](Sums& sums, int64_t at) {
    MICA_UNROLL for (int p = 0; p < kSumParts; ++p) sums.part[p] =
        with_element<kF>(sums.part[p], load(x + at + p * kLanes));
  };
  for (; k + 4 * kSumLanes <= n; k += 4 * kSumLanes) {
    take(a, k);
    take(b, k + kSumLanes);
    take(c, k + 2 * kSumLanes);
    take(d, k + 3 * kSumLanes);
  }
  for (; k + kSumLanes <= n; k += kSumLanes) take(a, k);
  MICA_UNROLL for (int p = 0; p < kSumParts; ++p, k += kLanes) {
    if (k >= n) break;
    const int width = static_cast<int>(least(kLanes, n - k));
    const F32 rest = select(first_lanes(width), load_some(x + k, width), neutral<kF>());
    b.part[p] = with_element<kF>(b.part[p], rest);
  }
  return combined<kF>(combined<kF>(a, b), combined<kF>(c, d));
}

// n elements `stride` floats apart, as neighbours.
inline void gather_run(const float* x, int64_t n, int64_t stride, float* out) {
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) store(out + k, load_strided(x + k * stride, stride));
  for (; k < n; ++k) out[k] = x[k * stride];
}

// n elements `stride` floats apart; where they are no neighbours, each block is gathered first.
template <ReduceFunction kF>
float reduce_run(const float* x, int64_t n, int64_t stride) {
  Tree<kF, kSumParts> tree;
  float block[kSumBlock];
  for (int64_t i = 0;; i += kSumBlock) {
    const int64_t count = least(kSumBlock, n - i);
    const float* from = x + i * stride;
    if (stride != 1) {
      gather_run(from, count, stride, block);
      from = block;
    }
    const Sums sums = block_sums<kF>(from, count);
    if (n <= kSumBlock) return over_lanes<kF>(sums);
    tree.push(sums);
    if (i + kSumBlock >= n) return over_lanes<kF>(tree.result());
  }
}

// Lane r of the result is over_lanes<kF>(rows[r]), to the bit: halves meet, of all rows at once.
template <ReduceFunction kF>
MICA_INLINE F32 over_lanes_of_rows(const Sums (&rows)[kLanes]) {
  F32 lane[kLanes];
  MICA_UNROLL for (int r = 0; r < kLanes; ++r) {
    Sums s = rows[r];
    MICA_UNROLL for (int half = kSumParts / 2; half > 0; half /= 2) MICA_UNROLL for (int p = 0; p < half; ++p)
        s.part[p] = combined<kF>(s.part[p], s.part[p + half]);
    lane[r] = s.part[0];
  }
  transpose(lane);
  MICA_UNROLL for (int half = kLanes / 2; half > 0; half /= 2) MICA_UNROLL for (int i = 0; i < half; ++i) lane[i] =
      combined<kF>(lane[i], lane[i + half]);
  return lane[0];
}

// Adds f(i, width), of elements i to i + width - 1, to the lanes in which they stand: kSumLanes elements from k, or
// those before `end`.
template <class F>
MICA_INLINE void add_elements(Sums& sums, int64_t k, int64_t end, F f) {
  if (k + kSumLanes <= end) {
    MICA_UNROLL for (int p = 0; p < kSumParts; ++p) sums.part[p] = f(sums.part[p], k + p * kLanes, kLanes);
    return;
  }
  for (int p = 0; k < end; ++p, k += kLanes)
    sums.part[p] = f(sums.part[p], k, static_cast<int>(least(kLanes, end - k)));
}

// A row of 1 to kSumBlock elements, of which none is above `largest`; e^(x - largest) goes to `out` if it is not null.
struct PowerRow {
  const float* x;
  float* out;
  int64_t n;
  float largest;
};

// The powers of rows one after the other; done(i, sums) with those of row i. A power is a long chain of operations:
// each step begins the next one's, of the next row at a row's end, before it ends its own.
template <class Done>
MICA_INLINE void powers_of_rows(const PowerRow* rows, int64_t count, Done done) {
  constexpr int kTogether = kSumParts > 2 ? kSumParts : 2;
  constexpr int64_t kStep = kTogether * kLanes;
  using V = Several<kTogether>;
  const auto begin = [&](const float* x, int64_t n, F32 top) __attribute__((always_inline)) {
    const auto part = [&](int p) __attribute__((always_inline)) {
      return load_partial(x + p * kLanes, width_of(n, p));
    };
    return begin_exp_below(sub(n >= kStep ? load_several<kTogether>(x) : each<kTogether>(part), top));
  };
  PowerRow row = rows[0];
  F32 top = set1(row.largest);
  Begun<V> begun = begin(row.x, row.n, top), next = begun;
  for (int64_t i = 0; i < count; ++i) {
    Sums sums = neutral_sums<ReduceFunction::kSum>();
    const auto add_power = [&](int p, F32 e) __attribute__((always_inline)) {
      sums.part[p % kSumParts] = add(sums.part[p % kSumParts], e);
    };
    for (; row.n > kStep; row.n -= kStep) {
      row.x += kStep;
      next = begin(row.x, row.n - kStep, top);
      const V e = end_exp_below(begun);
      if (row.out) {
        store(row.out, e);
        row.out += kStep;
      }
      MICA_UNROLL for (int p = 0; p < kTogether; ++p) add_power(p, e.v[p]);
      begun = next;
    }
    const PowerRow last = row;
    if (i + 1 < count) {
      row = rows[i + 1];
      top = set1(row.largest);
      next = begin(row.x, row.n, top);
    }
    const V e = end_exp_below(begun);
    MICA_UNROLL for (int p = 0; p < kTogether; ++p) {
      const int width = width_of(last.n, p);
      if (last.out) store_partial(last.out + p * kLanes, e.v[p], width);
      add_power(p, select(first_lanes(width), e.v[p], zero()));
    }
    begun = next;
    done(i, sums);
  }
}

// The sum of e^(x - largest) over a row of any length, blocked as reduce_run is; keeps the powers in `out` when it is
// not null.
inline float sum_of_powers(const float* x, int64_t n, float largest, float* out) {
  constexpr ReduceFunction kSum = ReduceFunction::kSum;
  if (n == 0) return 0;
  Tree<kSum, kSumParts> tree;
  for (int64_t i = 0; i < n; i += kSumBlock) {
    const PowerRow block = {x + i, out ? out + i : nullptr, least(kSumBlock, n - i), largest};
    powers_of_rows(&block, 1, [&](int64_t, const Sums& sums) { tree.push(sums); });
  }
  return over_lanes<kSum>(tree.result());
}

}  // namespace mica::MICA_ISA
