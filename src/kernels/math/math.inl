// Elementary functions on vectors, for every family's kernels: include it in an `.isa.cc` unit.
//
// Bounds are in units in the last place (ulp) of the result with fused multiply-add, half a unit more without: what a
// comparison with doubles found over all floats of where the error is largest, rounded up to half a unit.
// eltwise.test.cc holds them. NaN gives NaN; infinities, zeros of both signs and overflow give what the C library
// gives. Results below the smallest normal number may be flushed to zero. Polynomials without a named source are
// minimax fits (Lawson's iteration on Chebyshev nodes) of the function stated, with the largest relative error of the
// fit beside them.
#pragma once
#include "simd/several.h"

namespace mica::MICA_ISA {

// Of one vector or Several.
template <class V, int kTerms>
MICA_INLINE V polynomial(V x, const float (&c)[kTerms]) {
  V p = fma(set1(c[kTerms - 1]), x, set1(c[kTerms - 2]));
  MICA_UNROLL for (int i = kTerms - 3; i >= 0; --i) p = fma(p, x, set1(c[i]));
  return p;
}

MICA_INLINE F32 with_sign_of(F32 magnitude, F32 sign) { return bit_or(magnitude, bit_and(sign, set1(-0.0f))); }

inline constexpr float kExpFit[] = {1.0f,         1.0f,           0.49999994f,   0.166665211f,
                                    0.041668389f, 0.00836874545f, 0.00138145406f};

// x = n ln2 + r, |r| <= ln2 / 2, of one vector or Several: r as s, and n still added to kRounder, by which adding
// rounds. ln2 is in two parts of which n times the first is exact. NaN passes.
template <class V>
MICA_INLINE Begun<V> in_powers(V x) {
  const F32 rounder = set1(kRounder);
  const V rounded = fma(x, set1(1.44269504f), rounder), n = sub(rounded, rounder);
  return {x, fnma(n, set1(-2.12194440e-4f), fnma(n, set1(0.693359375f), x)), rounded};
}

// e^x for x in [-105, 90] or NaN, 1 ulp: 1 + r + r^2 P(r), fit 3e-9, times 2^n.
MICA_INLINE F32 exp_within(F32 x) {
  const auto f = in_powers(x);
  return scale_by_power(polynomial(f.s, kExpFit), sub(f.rounded, set1(kRounder)));
}

// e^x for x <= 0 or NaN, 1 ulp, of one vector or Several, in two parts: the same steps, but what is below e^-87 may be
// zero, and from kLeastPower on it is.
template <class V>
MICA_INLINE Begun<V> begin_exp_below(V x) {
  return in_powers(max_fast(set1(kLeastPower), x));
}
template <class V>
MICA_INLINE V end_exp_below(const Begun<V>& f) {
  return scale_by_rounded(polynomial(f.s, kExpFit), f.rounded);
}

// e^x, 1 ulp. The constant comes first: where the second operand is NaN, the result is.
MICA_INLINE F32 exp_of(F32 x) { return exp_within(max_fast(set1(-105.0f), min_fast(set1(90.0f), x))); }

// ln x, 1 ulp; NaN below 0. x = 2^e m, m in [sqrt(1/2), sqrt(2)), f = m - 1: ln m = f - f^2 / 2 + f^3 P(f).
MICA_INLINE F32 log_of(F32 x) {
  const Mask tiny = lt(x, set1(1.17549435e-38f));
  const F32 scaled = select(tiny, mul(x, set1(8388608.0f)), x);                     // 2^23: denormals become normal
  const I32 bits = as_i32(scaled), shifted = sub(bits, set1(int32_t{0x3f3504f3}));  // bits of sqrt(1/2)
  const I32 exponent = shift_right_sign<23>(shifted);
  const F32 m = as_f32(sub(bits, shift_left<23>(exponent)));
  const F32 e = sub(to_f32(exponent), select(tiny, set1(23.0f), zero()));
  const F32 f = sub(m, set1(1.0f)), square = mul(f, f);
  constexpr float kFit[] = {0.333333105f,  -0.249999866f, 0.20002155f,   -0.166692108f, 0.142198339f,
                            -0.123854935f, 0.118664101f,  -0.117817707f, 0.0691968352f};
  F32 tail = mul(mul(f, square), polynomial(f, kFit));
  tail = fma(e, set1(-2.12194440e-4f), tail);
  tail = fnma(square, set1(0.5f), tail);
  F32 y = fma(e, set1(0.693359375f), add(f, tail));
  y = select(eq(x, set1(__builtin_inff())), x, y);
  y = select(eq(x, zero()), set1(-__builtin_inff()), y);
  return select(mask_or(lt(x, zero()), is_nan(x)), set1(__builtin_nanf("")), y);
}

// ln(1 + x) for x in [0, 1], 2 ulp: x P(x), fit 5e-9.
MICA_INLINE F32 log1p_unit(F32 x) {
  constexpr float kFit[] = {1.0f,          -0.499999315f, 0.333304763f,   -0.249582484f, 0.196937606f,
                            -0.153509095f, 0.106732912f,  -0.0575954467f, 0.0201690476f, -0.00331081054f};
  return mul(x, polynomial(x, kFit));
}

// 1 / (1 + e^-x), 2.5 ulp.
MICA_INLINE F32 sigmoid_of(F32 x) { return div(set1(1.0f), add(set1(1.0f), exp_of(neg(x)))); }

// 2 ulp. Up to 1: x + x^3 P(x^2), fit 2e-9; beyond: pi / 2 - atan(1 / x).
MICA_INLINE F32 atan_of(F32 x) {
  constexpr float kFit[] = {-0.333333015f, 0.199986383f,   -0.142652452f, 0.109575719f,   -0.084194459f,
                            0.0582343191f, -0.0314554684f, 0.0110643152f, -0.00182718469f};
  const F32 magnitude = abs(x);
  const Mask beyond = gt(magnitude, set1(1.0f));
  const F32 t = select(beyond, div(set1(1.0f), magnitude), magnitude), square = mul(t, t);
  const F32 near = fma(mul(t, square), polynomial(square, kFit), t);
  return with_sign_of(select(beyond, sub(set1(1.57079637f), near), near), x);
}

// asin(t) for t in [0, 0.5], of t and its square, 1 ulp: t + t^3 P(t^2), fit 5e-9.
MICA_INLINE F32 asin_near(F32 t, F32 square) {
  constexpr float kFit[] = {0.166667536f, 0.0749524161f, 0.045477096f, 0.0241476111f, 0.0422185473f};
  return fma(mul(t, square), polynomial(square, kFit), t);
}
// Of |x|, also beyond 0.5, where asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)), and NaN beyond 1. `far`: whether it is
// the second.
struct Arc {
  F32 part;
  Mask far;
};
MICA_INLINE Arc arc_of(F32 magnitude) {
  const Mask far = gt(magnitude, set1(0.5f));
  const F32 rest = mul(sub(set1(1.0f), magnitude), set1(0.5f));
  return {asin_near(select(far, sqrt(rest), magnitude), select(far, rest, mul(magnitude, magnitude))), far};
}

// 2 ulp: pi / 2 in two parts.
MICA_INLINE F32 asin_of(F32 x) {
  const Arc arc = arc_of(abs(x));
  const F32 far = add(fma(arc.part, set1(-2.0f), set1(1.57079637f)), set1(-4.37113883e-8f));
  return with_sign_of(select(arc.far, far, arc.part), x);
}
// 1.5 ulp.
MICA_INLINE F32 acos_of(F32 x) {
  const Arc arc = arc_of(abs(x));
  const F32 twice = add(arc.part, arc.part), signed_part = with_sign_of(arc.part, x);
  const F32 far = select(lt(x, zero()), sub(set1(3.14159274f), twice), twice);
  return select(arc.far, far, sub(set1(1.57079637f), signed_part));
}

// 2^n (e^r - 1) + (2^n - 1) for |r| <= ln2 / 2 and n in [-126, 127] that is still added to kRounder, of one vector or
// Several: rounded once behind e^r - 1, which is as exact near 0 as r is.
template <class V>
MICA_INLINE V expm1_of_parts(V r, V rounded) {
  constexpr float kFit[] = {kExpFit[2], kExpFit[3], kExpFit[4], kExpFit[5], kExpFit[6]};
  const V near = fma(mul(r, r), polynomial(r, kFit), r), power = with_exponent(set1(1.0f), rounded);
  return fma(power, near, sub(power, set1(1.0f)));
}

// e^x - 1 for x <= 0, 1 ulp; 0 beyond, NaN passes.
MICA_INLINE F32 expm1_below(F32 x) {
  const auto f = in_powers(max_fast(set1(-87.0f), min_fast(zero(), x)));
  return expm1_of_parts(f.s, f.rounded);
}

// tanh x = t / (t + 2) with t = e^2|x| - 1, and the sign of x, 3 ulp, of one vector or Several, in two parts: the same
// bits in element-wise chains, tiles of products and recurrent cells. From 19 on the quotient is 1. NaN passes.
template <class V>
MICA_INLINE Begun<V> begin_tanh(V x) {
  const Begun<V> f = in_powers(min_fast(set1(19.0f), abs(add(x, x))));
  return {x, f.s, f.rounded};
}
template <class V>
MICA_INLINE V end_tanh(const Begun<V>& f) {
  const V t = expm1_of_parts(f.s, f.rounded);
  return bit_or(div(t, add(t, set1(2.0f))), bit_and(f.x, set1(-0.0f)));
}
MICA_INLINE F32 tanh_of(F32 x) { return end_tanh(begin_tanh(x)); }

// 3 ulp. Below 0.95: x P(x^2), fit 6e-10; beyond: 1 - e^-Q(x) where Q fits -ln erfc to 1e-7 of erf, up to 4, where
// erf is 1.
MICA_INLINE F32 erf_of(F32 x) {
  constexpr float kNear[] = {1.12837923f,    -0.376126319f,   0.112836726f,   -0.0268581044f,
                             0.00519779697f, -0.00081059651f, 8.21542344e-05f};
  constexpr float kFar[] = {-0.000175578913f, 1.12951386f,     0.633363783f,    0.108238958f,   -0.0250708349f,
                            0.00413862057f,   -0.00042196468f, 1.85025656e-05f, 2.24175849e-07f};
  const F32 magnitude = abs(x), t = select(gt(magnitude, set1(4.0f)), set1(4.0f), magnitude);
  const F32 near = mul(x, polynomial(mul(t, t), kNear));
  const F32 far = sub(set1(1.0f), exp_of(neg(polynomial(t, kFar))));
  return select(lt(magnitude, set1(0.95f)), near, with_sign_of(far, x));
}

// n-th quarter turn of sine: |x| <= kTrigLimit. Pi/2 in three parts (Cody and Waite), of which n times the first two
// are exact.
inline constexpr float kTrigLimit = 8192.0f;
MICA_INLINE F32 sine_of(F32 x, int32_t quarter) {
  const F32 n = round_even(mul(x, set1(0.636619772f)));
  F32 r = fnma(n, set1(1.5703125f), x);
  r = fnma(n, set1(4.837512969970703125e-4f), r);
  r = fnma(n, set1(7.54978995489188216e-8f), r);
  constexpr float kSine[] = {-0.166666672f, 0.00833333284f, -0.000198403577f, 2.72748684e-06f};
  constexpr float kCosine[] = {0.0416666679f, -0.00138897938f, 2.52381233e-05f, -7.6417075e-07f};
  const F32 square = mul(r, r);
  const F32 sine = fma(mul(square, r), polynomial(square, kSine), r);
  const F32 cosine = fma(mul(square, square), polynomial(square, kCosine), fnma(square, set1(0.5f), set1(1.0f)));
  const I32 turn = add(to_i32(n), set1(quarter));
  const F32 value = select(eq(bit_and(turn, set1(int32_t{1})), zero_i32()), sine, cosine);
  return bit_xor(value, as_f32(shift_left<30>(bit_and(turn, set1(int32_t{2})))));
}

// A function of the C library for every lane: rare functions, and arguments for which the vector form has no accuracy.
template <class F>
MICA_INLINE F32 by_lane(F32 x, F f) {
  float lane[kLanes];
  store(lane, x);
  for (int i = 0; i < kLanes; ++i) lane[i] = f(lane[i]);
  return load(lane);
}
template <class F>
MICA_INLINE F32 by_lane(F32 x, F32 y, F f) {
  float a[kLanes], b[kLanes];
  store(a, x);
  store(b, y);
  for (int i = 0; i < kLanes; ++i) a[i] = f(a[i], b[i]);
  return load(a);
}

// Absolute error 2^-23 up to kTrigLimit, the C library's beyond.
MICA_INLINE F32 sin_of(F32 x) {
  if (!all(le(abs(x), set1(kTrigLimit)))) return by_lane(x, [](float v) { return __builtin_sinf(v); });
  return sine_of(x, 0);
}
MICA_INLINE F32 cos_of(F32 x) {
  if (!all(le(abs(x), set1(kTrigLimit)))) return by_lane(x, [](float v) { return __builtin_cosf(v); });
  return sine_of(x, 1);
}

}  // namespace mica::MICA_ISA
