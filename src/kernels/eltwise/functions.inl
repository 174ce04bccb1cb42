// The Pointwise functions on vectors. Comparisons put x where an unordered one chooses, so that NaN passes.
// Bounds that are no function's of math.inl, in the units given there: softplus 2.5 ulp, Mish 5, ELU and CELU 1 where
// a is 1.
#pragma once
#include "kernels/math/gelu.inl"
#include "kernels/math/pow.inl"
#include "types/pointwise.h"

namespace mica::MICA_ISA {

MICA_INLINE F32 at_least(F32 x, F32 low) { return select(lt(x, low), low, x); }
MICA_INLINE F32 at_most(F32 x, F32 high) { return select(gt(x, high), high, x); }

MICA_INLINE F32 sign_of(F32 x) {
  const F32 one = select(gt(x, zero()), set1(1.0f), select(lt(x, zero()), set1(-1.0f), zero()));
  return select(is_nan(x), x, one);
}
// x > 20: tanh is 1. n = e^x (e^x + 2) makes tanh(ln(1 + e^x)) = n / (n + 2) without a logarithm.
MICA_INLINE F32 mish_of(F32 x) {
  const F32 e = exp_of(at_most(x, set1(20.0f))), n = mul(e, add(e, set1(2.0f)));
  return select(gt(x, set1(20.0f)), x, mul(x, div(n, add(n, set1(2.0f)))));
}
MICA_INLINE F32 shrink_of(F32 x, F32 lambda, F32 bias) {
  const F32 above = select(gt(x, lambda), sub(x, bias), select(is_nan(x), x, zero()));
  return select(lt(x, neg(lambda)), add(x, bias), above);
}

// Where alpha is negative, t = x / alpha is positive below 0: e^t - 1 = -(e^-t - 1) e^t.
MICA_INLINE F32 celu_of(F32 x, F32 alpha) {
  const F32 t = div(x, alpha), below = expm1_below(neg(abs(t)));
  const F32 power = select(gt(t, zero()), mul(neg(below), exp_of(t)), below);
  return add(at_least(x, zero()), at_most(mul(alpha, power), zero()));
}

template <Pointwise kF>
MICA_INLINE F32 function_of(F32 x, F32 a, F32 b) {
  using enum Pointwise;
  const F32 one = set1(1.0f), half = set1(0.5f);
  if constexpr (kF == kNeg) return neg(x);
  if constexpr (kF == kAbs) return abs(x);
  if constexpr (kF == kSign) return sign_of(x);
  if constexpr (kF == kSquare) return mul(x, x);
  if constexpr (kF == kReciprocal) return div(one, x);
  if constexpr (kF == kSqrt) return sqrt(x);
  if constexpr (kF == kRsqrt) return div(one, sqrt(x));
  if constexpr (kF == kExp) return exp_of(x);
  if constexpr (kF == kLog) return log_of(x);
  if constexpr (kF == kErf) return erf_of(x);
  if constexpr (kF == kSigmoid) return sigmoid_of(x);
  if constexpr (kF == kTanh) return tanh_of(x);
  if constexpr (kF == kRelu) return at_least(x, zero());
  if constexpr (kF == kLeakyRelu) return select(lt(x, zero()), mul(a, x), x);
  if constexpr (kF == kElu) return select(lt(x, zero()), mul(a, expm1_below(x)), x);
  if constexpr (kF == kSelu) return mul(b, select(gt(x, zero()), x, mul(a, expm1_below(x))));
  if constexpr (kF == kCelu) return celu_of(x, a);
  if constexpr (kF == kHardSigmoid) return at_most(at_least(fma(a, x, b), zero()), one);
  if constexpr (kF == kHardSwish) return mul(x, at_most(at_least(fma(x, set1(1.0f / 6), half), zero()), one));
  if constexpr (kF == kSoftplus) return add(at_least(x, zero()), log1p_unit(exp_of(neg(abs(x)))));
  if constexpr (kF == kSoftsign) return div(x, add(one, abs(x)));
  // What is added is 0, but NaN at -inf, as the definition has it.
  if constexpr (kF == kGelu) return fma(min_fast(zero(), x), zero(), gelu_vector(x));
  // (1 + tanh u) / 2 is the logistic function of 2u.
  if constexpr (kF == kGeluTanh)
    return mul(x, sigmoid_of(mul(mul(set1(1.59576912f), x), fma(mul(set1(0.044715f), x), x, one))));
  if constexpr (kF == kSilu) return mul(x, sigmoid_of(mul(a, x)));
  if constexpr (kF == kMish) return mish_of(x);
  if constexpr (kF == kThresholdedRelu) return select(le(x, a), zero(), x);
  if constexpr (kF == kShrink) return shrink_of(x, a, b);
  if constexpr (kF == kClip) return at_most(at_least(x, a), b);
  if constexpr (kF == kFloor) return floor(x);
  if constexpr (kF == kCeil) return ceil(x);
  if constexpr (kF == kRound) return round_even(x);
  if constexpr (kF == kSin) return sin_of(x);
  if constexpr (kF == kCos) return cos_of(x);
  if constexpr (kF == kTan) return by_lane(x, [](float v) { return __builtin_tanf(v); });
  if constexpr (kF == kAsin) return asin_of(x);
  if constexpr (kF == kAcos) return acos_of(x);
  if constexpr (kF == kAtan) return atan_of(x);
  if constexpr (kF == kSinh) return by_lane(x, [](float v) { return __builtin_sinhf(v); });
  if constexpr (kF == kCosh) return by_lane(x, [](float v) { return __builtin_coshf(v); });
  if constexpr (kF == kAsinh) return by_lane(x, [](float v) { return __builtin_asinhf(v); });
  if constexpr (kF == kAcosh) return by_lane(x, [](float v) { return __builtin_acoshf(v); });
  if constexpr (kF == kAtanh) return by_lane(x, [](float v) { return __builtin_atanhf(v); });
  if constexpr (kF == kAffine) return fma(a, x, b);
  return x;
}

template <Pointwise kF>
MICA_INLINE F32 function_of_two(F32 x, F32 y) {
  using enum Pointwise;
  if constexpr (kF == kAdd) return add(x, y);
  if constexpr (kF == kSub) return sub(x, y);
  if constexpr (kF == kMul) return mul(x, y);
  if constexpr (kF == kDiv) return div(x, y);
  if constexpr (kF == kMin) return min_nan(x, y);
  if constexpr (kF == kMax) return max_nan(x, y);
  if constexpr (kF == kPow) return pow_of(x, y);
  if constexpr (kF == kFmod) return fmod_of(x, y);
  if constexpr (kF == kMod) return mod_of(x, y);
  if constexpr (kF == kPrelu) return select(lt(x, zero()), mul(x, y), x);
  return x;
}

}  // namespace mica::MICA_ISA
