// Roundings, half-precision conversions and look-ups out of integer and add instructions, for sets that have none of
// their own.
#pragma once

namespace mica::MICA_ISA {

// Adding and taking away 2^23 leaves no fraction bits; larger magnitudes have none to begin with. The sign is put back
// for -0.
MICA_INLINE F32 round_even(F32 a) {
  const F32 magnitude = abs(a), sign = bit_and(a, set1(-0.0f)), big = set1(0x1p23f);
  const F32 rounded = bit_or(sub(add(magnitude, big), big), sign);
  return select(lt(magnitude, big), rounded, a);
}
MICA_INLINE F32 floor(F32 a) {
  const F32 r = round_even(a), sign = bit_and(a, set1(-0.0f));
  return bit_or(select(gt(r, a), sub(r, set1(1.0f)), r), sign);
}
MICA_INLINE F32 ceil(F32 a) {
  const F32 r = round_even(a), sign = bit_and(a, set1(-0.0f));
  return bit_or(select(lt(r, a), add(r, set1(1.0f)), r), sign);
}
MICA_INLINE F32 trunc(F32 a) { return bit_or(floor(abs(a)), bit_and(a, set1(-0.0f))); }

MICA_INLINE F32 lookup(const float* table, F32 rounded) { return gather(table, bit_and(as_i32(rounded), set1(7))); }

// Half to float: exponent and mantissa move up by 13 bits and the bias grows by 112. An all-ones exponent gets the bias
// once more; a denormal is made normal by a subtraction that the float unit does exactly.
MICA_INLINE F32 load_f16(const uint16_t* p) {
  const I32 h = load_u16(p), sign = shift_left<16>(bit_and(h, set1(0x8000)));
  const I32 body = shift_left<13>(bit_and(h, set1(0x7fff))), exponent = bit_and(body, set1(0x0f800000));
  const I32 normal = add(body, set1(112 << 23));
  const F32 tiny = sub(as_f32(add(normal, set1(1 << 23))), as_f32(set1(113 << 23)));
  I32 special = add(normal, set1(112 << 23));
  special = select(gt(body, set1(0x0f800000)), bit_or(special, set1(0x00400000)), special);
  I32 out = select(eq(exponent, set1(0x0f800000)), special, normal);
  out = select(eq(exponent, zero_i32()), as_i32(tiny), out);
  return as_f32(bit_or(out, sign));
}

// Float to half, to nearest even. Below 2^-14 adding 0.5, whose last bit is worth 2^-24, rounds to the denormal grid.
MICA_INLINE void store_f16(uint16_t* p, F32 a) {
  const I32 bits = as_i32(a), body = bit_and(bits, set1(0x7fffffff));
  const I32 sign = bit_and(shift_right<16>(bits), set1(0x8000));
  const I32 odd = bit_and(shift_right<13>(body), set1(1));
  const I32 normal = shift_right<13>(sub(add(add(body, set1(0xfff)), odd), set1(112 << 23)));
  const I32 tiny = sub(as_i32(add(as_f32(body), set1(0.5f))), as_i32(set1(0.5f)));
  const I32 nan = bit_or(bit_and(shift_right<13>(body), set1(0x3ff)), set1(0x7e00));
  I32 out = select(gt(set1(0x38800000), body), tiny, normal);
  out = select(gt(body, set1(0x477fffff)), set1(0x7c00), out);
  out = select(gt(body, set1(0x7f800000)), nan, out);
  store_u16(p, bit_or(out, sign));
}

}  // namespace mica::MICA_ISA
