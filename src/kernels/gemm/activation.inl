// Activations of whole tiles on vectors. Included by gemm.isa.cc.
#pragma once
#include "kernels/gemm/epilogue.h"
#include "kernels/math/gelu.inl"
#include "kernels/math/math.inl"
#include "simd/several.h"
#include "types/pointwise_parts.h"

namespace mica::MICA_ISA {

// Functions of one vector or, side by side, of several: V is F32 or Several.

// 2^-s for |s| <= 1/2: a minimax fit of degree 5 that is 1 at 0, with a relative error of 9.2e-8.
template <class V>
MICA_INLINE V power_of_fraction(V s) {
  V p = fma(set1(-0.00132647273f), s, set1(0.00967151299f));
  p = fma(p, s, set1(-0.0555073358f));
  p = fma(p, s, set1(0.240222424f));
  p = fma(p, s, set1(-0.693147004f));
  return fma(p, s, set1(1.0f));
}

// 2^(whole - s) for a whole number in [-126, 127] that is still added to kRounder; NaN passes.
template <class V>
MICA_INLINE V power_of_two(const Begun<V>& f) {
  return scale_by_rounded(power_of_fraction(f.s), f.rounded);
}

// The same beside the multiply-adds' units (with_exponent).
template <class V>
MICA_INLINE V power_of_two_beside(const Begun<V>& f) {
  return with_exponent(power_of_fraction(f.s), f.rounded);
}

// exp(z), or exp(-z), for exponents in [-87, 87], as far as power_of_two; NaN passes. The relative error is at most
// 1.6e-7 + 1.3e-8·|z|: log2 e in one part, whose product with z is exact up to the subtraction where there is a fused
// multiply-add (6e-8·|z| elsewhere). What e^z is a part of, 1 + e^z, is far larger where |z| is.
template <bool kNegative = false, class V>
MICA_INLINE Begun<V> begin_exp(V x, V z) {
  const F32 rounder = set1(kRounder), log2_e = set1(1.44269504f);
  const V rounded = kNegative ? fnma(z, log2_e, rounder) : fma(z, log2_e, rounder), n = sub(rounded, rounder);
  return {x, kNegative ? fma(z, log2_e, n) : fnma(z, log2_e, n), rounded};
}
template <class V>
MICA_INLINE V within_exponents(V x) {
  return min_fast(set1(87.0f), max_fast(set1(-87.0f), x));
}

template <class V>
MICA_INLINE Begun<V> begin_sigmoid(V x) {
  return begin_exp<true>(x, within_exponents(x));
}
template <class V>
MICA_INLINE V end_sigmoid(const Begun<V>& f) {
  return div(set1(1.0f), add(set1(1.0f), power_of_two(f)));
}
MICA_INLINE F32 sigmoid_vector(F32 x) { return end_sigmoid(begin_sigmoid(x)); }

// x·sigmoid(a·x). Where the sigmoid is below 2e-38, x stands still: the result is 0 within 1e-36 (for |a| near 1).
template <class V>
MICA_INLINE Begun<V> begin_silu(V x, float a) {
  const float inf = __builtin_inff(), end = -87.0f / a;
  x = a < 0 ? min_fast(set1(end), x) : max_fast(set1(a > 0 ? end : -inf), x);
  const V z = a == 1.0f ? x : mul(set1(a), x);  // at least -87
  return begin_exp<true>(x, min_fast(set1(87.0f), z));
}
template <class V>
MICA_INLINE V end_silu(const Begun<V>& f, float a) {
  const V e = a == 1.0f ? power_of_two_beside(f) : power_of_two(f);  // otherwise a·x may be NaN though x is not
  return div(f.x, add(set1(1.0f), e));
}

// The constant operand comes first in min and max: where the second is NaN, the result is.
template <Activation kKind>
MICA_INLINE F32 activate(F32 x, float a, float b) {
  if constexpr (kKind == Activation::kClip) return min_fast(set1(b), max_fast(set1(a), x));
  if constexpr (kKind == Activation::kLeakyRelu) return select(lt(x, zero()), mul(set1(a), x), x);
  if constexpr (kKind == Activation::kHardSigmoid)
    return min_fast(set1(1.0f), max_fast(zero(), fma(set1(a), x, set1(b))));
  if constexpr (kKind == Activation::kHardSwish)
    return mul(x, min_fast(set1(1.0f), max_fast(zero(), fma(set1(1.0f / 6), x, set1(0.5f)))));
  if constexpr (kKind == Activation::kSigmoid) return sigmoid_vector(x);
  if constexpr (kKind == Activation::kSilu) return end_silu(begin_silu(x, a), a);
  if constexpr (kKind == Activation::kTanh) return tanh_of(x);
  if constexpr (kKind == Activation::kGelu) return gelu_vector(x);
  return x;
}

// The same in two parts; functions that are short, or rare, are in the second as a whole.
template <Activation kKind, class V>
MICA_INLINE Begun<V> begin_activation(V x, float a) {
  if constexpr (kKind == Activation::kSigmoid) return begin_sigmoid(x);
  if constexpr (kKind == Activation::kSilu) return begin_silu(x, a);
  if constexpr (kKind == Activation::kTanh) return begin_tanh(x);
  if constexpr (kKind == Activation::kGelu) return begin_gelu(x);
  return {x, x, x};
}
template <Activation kKind, class V>
MICA_INLINE V end_activation(const Begun<V>& f, float a, float b) {
  if constexpr (kKind == Activation::kSigmoid) return end_sigmoid(f);
  if constexpr (kKind == Activation::kSilu) return end_silu(f, a);
  if constexpr (kKind == Activation::kTanh) return end_tanh(f);
  if constexpr (kKind == Activation::kGelu) return end_gelu(f);
  if constexpr (kSeveral<V> == 0)
    return activate<kKind>(f.x, a, b);
  else
    return each<kSeveral<V>>([&](int i) __attribute__((always_inline)) { return activate<kKind>(f.x.v[i], a, b); });
}

// One rectangle of results on its way to C.
struct TileOut {
  const float* in;
  int64_t in_stride;
  float* out;
  int64_t out_stride;
  const float* residual;  // or null
  int64_t residual_stride;
  bool residual_last;
  int64_t rows, columns;
  float a, b;
};

// Rows that lie one behind the other are one: parts of vectors at their ends would cost as much as whole ones, and
// reading one that lies beside one just stored waits until that is in the cache.
MICA_INLINE TileOut as_one_row(TileOut t) {
  const int64_t width = t.columns;
  if (t.in_stride == width && t.out_stride == width && (!t.residual || t.residual_stride == width)) {
    t.columns *= t.rows;
    t.rows = t.rows > 0;
  }
  return t;
}

// `width` columns of all rows, two vectors at a time. Each step begins the next vectors before it ends its own: their
// operations stand beside those that wait for one another, within what the processor looks ahead to. It is one loop
// over all rows, in front of which constants are made: they take as long as half of a step.
template <Activation kKind>
MICA_INLINE void activate_pairs(const TileOut& t, float a, float b, int64_t width) {
  constexpr int64_t kStep = 2 * kLanes;
  const float* in = t.in;
  float* out = t.out;
  int64_t j = 0;
  auto begun = begin_activation<kKind>(load_several<2>(in), a);
  for (int64_t left = t.rows * (width / kStep); left > 1; --left) {
    float* const to = out + j;
    j += kStep;
    if (j == width) {
      j = 0;
      in += t.in_stride;
      out += t.out_stride;
    }
    if constexpr (kRegisters < 32) {  // both at once would not fit
      store(to, end_activation<kKind>(begun, a, b));
      begun = begin_activation<kKind>(load_several<2>(in + j), a);
    } else {
      const auto next = begin_activation<kKind>(load_several<2>(in + j), a);
      store(to, end_activation<kKind>(begun, a, b));
      begun = next;
    }
  }
  store(out + j, end_activation<kKind>(begun, a, b));
}

// The columns from `begin` on, with what is added.
template <Activation kKind>
MICA_INLINE void activate_rest(const TileOut& t, float a, float b, int64_t begin) {
  for (int64_t i = 0; i < t.rows; ++i) {
    const float* in = t.in + i * t.in_stride;
    const float* other = t.residual ? t.residual + i * t.residual_stride : nullptr;
    float* out = t.out + i * t.out_stride;
    for (int64_t j = begin; j < t.columns; j += kLanes) {
      const int left = t.columns - j < kLanes ? static_cast<int>(t.columns - j) : kLanes;
      const bool full = left == kLanes;
      F32 x = full ? load(in + j) : load_partial(in + j, left);
      const F32 y = other ? (full ? load(other + j) : load_partial(other + j, left)) : zero();
      if (other && !t.residual_last) x = add(x, y);
      x = activate<kKind>(x, a, b);
      if (other && t.residual_last) x = add(x, y);
      if (full)
        store(out + j, x);
      else
        store_partial(out + j, x, left);
    }
  }
}

// Nothing, or a clip. Registers do these, so that they are wanted here for the sake of a residual alone.
constexpr bool is_plain(Activation kind) { return kind == Activation::kNone || kind == Activation::kClip; }

// out = activation(in + residual), or activation(in) + residual; `residual` may be `out`.
template <Activation kKind>
MICA_INLINE void activate_tile(const TileOut& t, float a, float b) {
  int64_t begin = 0;
  if constexpr (!is_plain(kKind)) {
    begin = t.residual || t.rows == 0 ? 0 : t.columns / (2 * kLanes) * (2 * kLanes);
    if (begin > 0) activate_pairs<kKind>(t, a, b, begin);
  }
  if (begin < t.columns) activate_rest<kKind>(t, a, b, begin);
}

template <Activation kKind>
void activate_rows(const TileOut& given) {
  const TileOut t = as_one_row(given);
  // A factor of 1 that the compiler knows takes no steps; where vectors are short, twice the code is worth more.
  if (kKind == Activation::kSilu && kLanes >= 8 && t.a == 1.0f) return activate_tile<kKind>(t, 1.0f, 0.0f);
  activate_tile<kKind>(t, t.a, t.b);
}

// Whether some model of the build has a function that is this activation (step/gemm_epilogue.cc).
constexpr bool has_activation(Activation kind) {
  switch (kind) {
    case Activation::kNone: return true;
    case Activation::kClip: return has_function(Pointwise::kRelu) || has_function(Pointwise::kClip);
    case Activation::kLeakyRelu: return has_function(Pointwise::kLeakyRelu);
    case Activation::kHardSigmoid: return has_function(Pointwise::kHardSigmoid);
    case Activation::kHardSwish: return has_function(Pointwise::kHardSwish);
    case Activation::kSigmoid: return has_function(Pointwise::kSigmoid);
    case Activation::kSilu: return has_function(Pointwise::kSilu);
    case Activation::kTanh: return has_function(Pointwise::kTanh);
    case Activation::kGelu: return has_function(Pointwise::kGelu);
  }
  return true;
}

inline constexpr bool kWithHardSwish = has_activation(Activation::kHardSwish);

// An epilogue that is cheap enough for sums in registers: nothing, a clip, or hard-swish. Others leave the sums as they
// are, and need a pass of their own.
struct LaneFinish {
  MICA_INLINE static bool suffices(const GemmEpilogue& e) {
    const bool cheap = is_plain(e.activation) || (kWithHardSwish && e.activation == Activation::kHardSwish);
    return cheap && !e.residual;
  }

  MICA_INLINE explicit LaneFinish(const GemmEpilogue& e) {
    const bool clips = suffices(e) && e.activation == Activation::kClip;
    lo = set1(clips ? e.a : -__builtin_inff());
    hi = set1(clips ? e.b : __builtin_inff());
    hard_swish = suffices(e) && e.activation == Activation::kHardSwish;
  }
  MICA_INLINE F32 operator()(F32 sum) const {
    if constexpr (kWithHardSwish)
      if (hard_swish) return activate<Activation::kHardSwish>(sum, 0, 0);
    return min_fast(hi, max_fast(lo, sum));
  }

  F32 lo, hi;
  bool hard_swish;
};

using ActivateRowsFn = void (*)(const TileOut&);
// Null: a trimmed build without it, whose hooks never ask for it.
template <Activation kKind>
constexpr ActivateRowsFn activate_rows_fn() {
  if constexpr (has_activation(kKind)) return activate_rows<kKind>;
  return nullptr;
}
constexpr ActivateRowsFn kActivateRows[] = {
    activate_rows_fn<Activation::kNone>(),      activate_rows_fn<Activation::kClip>(),
    activate_rows_fn<Activation::kLeakyRelu>(), activate_rows_fn<Activation::kHardSigmoid>(),
    activate_rows_fn<Activation::kHardSwish>(), activate_rows_fn<Activation::kSigmoid>(),
    activate_rows_fn<Activation::kSilu>(),      activate_rows_fn<Activation::kTanh>(),
    activate_rows_fn<Activation::kGelu>()};

}  // namespace mica::MICA_ISA
