// Powers and remainders of two operands, for every family's kernels: include it in an `.isa.cc` unit. Vectors of
// ordinary numbers are computed at once, others number by number by the C library.
#pragma once
#include "kernels/math/math.inl"

namespace mica::MICA_ISA {

// log2 x as high + low, to 2^-30 of it, for normal positive x: x = 2^e m with m in [sqrt(1/2), sqrt(2)), s = (m - 1) /
// (m + 1), log2 m = 2 / ln2 (s + s^3 / 3 + ...), fit 5e-12. What s and its product lose comes from the remainders.
struct TwoParts {
  F32 high, low;
};
MICA_INLINE TwoParts log2_of_normal(F32 x) {
  constexpr float kFit[] = {0.9617967f, 0.5770829f, 0.41170633f, 0.34021857f};
  const I32 bits = as_i32(x), exponent = shift_right_sign<23>(sub(bits, set1(int32_t{0x3f3504f3})));
  const F32 m = as_f32(sub(bits, shift_left<23>(exponent))), e = to_f32(exponent);
  const F32 n = sub(m, set1(1.0f)), d = add(m, set1(1.0f)), d_low = sub(m, sub(d, set1(1.0f)));
  const F32 inverse = div(set1(1.0f), d), s = mul(n, inverse);
  const F32 s_low = mul(fnma(s, d_low, fnma(s, d, n)), inverse), square = mul(s, s);
  const F32 head = mul(s, set1(2.88539004f));
  F32 low = fma(mul(s, square), polynomial(square, kFit), fms(s, set1(2.88539004f), head));
  low = fma(s, set1(3.851926e-8f), fma(s_low, set1(2.88539004f), low));
  const F32 sum = add(e, head);
  low = add(low, sub(head, sub(sum, e)));
  const F32 high = add(sum, low);
  return {high, sub(low, sub(high, sum))};
}

// x^y, 2 ulp; of 0 and normal positive numbers where the result is normal as 2^(y log2 x), which needs fused
// multiply-add. Without it the C library's, 1 ulp.
__attribute__((noinline)) inline F32 pow_of(F32 x, F32 y) {
  const auto one = [](float v, float w) { return __builtin_powf(v, w); };
  if constexpr (!kHasFma) return by_lane(x, y, one);
  const Mask none = eq(as_i32(x), zero_i32());
  const F32 base = select(none, set1(1.0f), x);
  const Mask usual =
      mask_and(mask_and(ge(base, set1(1.17549435e-38f)), le(base, set1(3.40282347e38f))), le(abs(y), set1(1e30f)));
  const TwoParts log = log2_of_normal(base);
  const F32 high = mul(y, log.high), low = fma(y, log.low, fms(y, log.high, high));
  if (!all(mask_and(usual, le(abs(high), set1(125.0f))))) return by_lane(x, y, one);
  const F32 n = round_even(high), r = mul(add(sub(high, n), low), set1(0.693147181f));
  const F32 power = scale_by_power(polynomial(r, kExpFit), n);
  const F32 of_zero = select(gt(y, zero()), zero(), select(lt(y, zero()), set1(__builtin_inff()), set1(1.0f)));
  return select(none, of_zero, power);
}

// x - y trunc(x / y), exact, with the sign of x. The quotient's rounding may take y once too often.
MICA_INLINE F32 fmod_of(F32 x, F32 y) {
  const auto one = [](float v, float w) { return __builtin_fmodf(v, w); };
  if constexpr (!kHasFma) return by_lane(x, y, one);
  const F32 magnitude = abs(x), step = abs(y), quotient = div(magnitude, step);
  const Mask within = mask_and(ge(step, set1(1e-30f)), le(step, set1(1e30f)));
  const Mask usual = mask_and(within, le(quotient, set1(4e6f)));  // not of infinities and NaN
  if (!all(usual)) return by_lane(x, y, one);
  const F32 rest = fnma(trunc(quotient), step, magnitude);
  return with_sign_of(select(lt(rest, zero()), add(rest, step), rest), x);
}

// The same with the sign of y.
MICA_INLINE F32 mod_of(F32 x, F32 y) {
  const F32 rest = fmod_of(x, y);
  const Mask turns = mask_and(ne(rest, zero()), lt(as_i32(bit_xor(rest, y)), zero_i32()));
  return select(turns, add(rest, y), rest);
}

}  // namespace mica::MICA_ISA
