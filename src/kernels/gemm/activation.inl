// Activations of whole tiles on vectors. Included by gemm.isa.cc.
#pragma once
#include "kernels/gemm/epilogue.h"
#include "simd/simd.h"

namespace mica::MICA_ISA {

// exp(x) for x in [-87, 88], saturated beyond; NaN passes. x = n·ln2 + r with |r| <= ln2/2; ln2 is split so that n·hi
// is exact. The polynomial is the Taylor series to r^7/7!, whose remainder at ln2/2 is 0.347^8/8! = 5e-9, below half of
// an ulp (6e-8).
MICA_INLINE F32 exp_vector(F32 x) {
  x = min_fast(set1(88.0f), max_fast(set1(-87.0f), x));
  const F32 n = round_even(mul(x, set1(1.44269504f)));
  const F32 r = fnma(n, set1(-2.12194440e-4f), fnma(n, set1(0.693359375f), x));
  F32 p = set1(1.0f / 5040);
  p = fma(p, r, set1(1.0f / 720));
  p = fma(p, r, set1(1.0f / 120));
  p = fma(p, r, set1(1.0f / 24));
  p = fma(p, r, set1(1.0f / 6));
  p = fma(p, r, set1(0.5f));
  p = fma(p, r, set1(1.0f));
  p = fma(p, r, set1(1.0f));
  return mul(p, as_f32(shift_left<23>(add(to_i32(n), set1(int32_t{127})))));
}

MICA_INLINE F32 sigmoid_vector(F32 x) { return div(set1(1.0f), add(set1(1.0f), exp_vector(neg(x)))); }

// Below 0.55 the quotient of exponentials would cancel; the odd Taylor series to x^13 leaves 0.55^15 · 0.0015 < 2e-7
// relative.
MICA_INLINE F32 tanh_vector(F32 x) {
  const F32 s = mul(x, x);
  F32 p = set1(21844.0f / 6081075);
  p = fma(p, s, set1(-1382.0f / 155925));
  p = fma(p, s, set1(62.0f / 2835));
  p = fma(p, s, set1(-17.0f / 315));
  p = fma(p, s, set1(2.0f / 15));
  p = fma(p, s, set1(-1.0f / 3));
  const F32 small = fma(mul(p, s), x, x);
  const F32 e = exp_vector(mul(set1(-2.0f), abs(x)));
  const F32 magnitude = div(sub(set1(1.0f), e), add(set1(1.0f), e));
  const F32 large = bit_or(magnitude, bit_and(x, set1(-0.0f)));
  return select(lt(abs(x), set1(0.55f)), small, large);
}

// Abramowitz and Stegun 7.1.26: |error| <= 1.5e-7.
MICA_INLINE F32 erf_vector(F32 x) {
  const F32 magnitude = abs(x), t = div(set1(1.0f), fma(set1(0.3275911f), magnitude, set1(1.0f)));
  F32 p = set1(1.061405429f);
  p = fma(p, t, set1(-1.453152027f));
  p = fma(p, t, set1(1.421413741f));
  p = fma(p, t, set1(-0.284496736f));
  p = fma(p, t, set1(0.254829592f));
  const F32 r = fnma(mul(p, t), exp_vector(neg(mul(x, x))), set1(1.0f));
  return bit_or(r, bit_and(x, set1(-0.0f)));
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
  // An infinite x has a sigmoid of exactly 0 or 1 in the limit; x·sigmoid must be -0, not inf·(a tiny number).
  if constexpr (kKind == Activation::kSilu)
    return mul(max_fast(set1(-3.0e38f), x),
               select(lt(mul(set1(a), x), set1(-87.0f)), zero(), sigmoid_vector(mul(set1(a), x))));
  if constexpr (kKind == Activation::kTanh) return tanh_vector(x);
  if constexpr (kKind == Activation::kGelu) {
    const F32 finite = max_fast(set1(-3.0e38f), x);
    return mul(mul(set1(0.5f), finite), add(set1(1.0f), erf_vector(mul(x, set1(0.70710678f)))));
  }
  return x;
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

// out = activation(in + residual), or activation(in) + residual; `residual` may be `out`.
template <Activation kKind>
void activate_rows(const TileOut& t) {
  for (int64_t i = 0; i < t.rows; ++i) {
    const float* in = t.in + i * t.in_stride;
    const float* other = t.residual ? t.residual + i * t.residual_stride : nullptr;
    float* out = t.out + i * t.out_stride;
    for (int64_t j = 0; j < t.columns; j += kLanes) {
      const int left = t.columns - j < kLanes ? static_cast<int>(t.columns - j) : kLanes;
      const bool full = left == kLanes;
      F32 x = full ? load(in + j) : load_partial(in + j, left);
      const F32 y = other ? (full ? load(other + j) : load_partial(other + j, left)) : zero();
      if (other && !t.residual_last) x = add(x, y);
      x = activate<kKind>(x, t.a, t.b);
      if (other && t.residual_last) x = add(x, y);
      if (full)
        store(out + j, x);
      else
        store_partial(out + j, x, left);
    }
  }
}

using ActivateRowsFn = void (*)(const TileOut&);
constexpr ActivateRowsFn kActivateRows[] = {
    activate_rows<Activation::kNone>,      activate_rows<Activation::kClip>,
    activate_rows<Activation::kLeakyRelu>, activate_rows<Activation::kHardSigmoid>,
    activate_rows<Activation::kHardSwish>, activate_rows<Activation::kSigmoid>,
    activate_rows<Activation::kSilu>,      activate_rows<Activation::kTanh>,
    activate_rows<Activation::kGelu>};

}  // namespace mica::MICA_ISA
