// Narrow floating-point formats as codes (unsigned integers) and their exact conversions. Rounding is to nearest, ties
// to even, and happens once: from double as well. Everything is integer arithmetic on bits, so that the result does not
// depend on the rounding or flush-to-zero mode of the calling thread. NaNs become quiet and keep sign and high payload
// bits.
//
// The f16 and bf16 functions are forced inline, because kernel units of different instruction sets include this header.
#pragma once
#include <cstdint>

namespace mica {

[[gnu::always_inline]] inline float bf16_to_float(uint16_t code) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(code) << 16);
}

[[gnu::always_inline]] inline uint16_t float_to_bf16(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // overflow carries into infinity
}

[[gnu::always_inline]] inline float f16_to_float(uint16_t code) {
  const uint32_t sign = (code & 0x8000u) << 16, exponent = code >> 10 & 31u, mantissa = code & 0x3ffu;
  uint32_t bits = sign;
  if (exponent == 31) {
    bits |= 0x7f800000u | mantissa << 13 | (mantissa ? 0x400000u : 0u);
  } else if (exponent != 0) {
    bits |= (exponent + (127 - 15)) << 23 | mantissa << 13;
  } else if (mantissa != 0) {  // mantissa * 2^-24, normal as a float: its highest set bit becomes the implicit one
    const uint32_t top = 31u - static_cast<uint32_t>(__builtin_clz(mantissa));
    bits |= (top + (127 - 24)) << 23 | (mantissa << (23 - top) & 0x7fffffu);
  }
  return __builtin_bit_cast(float, bits);
}

[[gnu::always_inline]] inline uint16_t float_to_f16(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value), magnitude = bits & 0x7fffffffu;
  uint32_t code = 0;
  if (magnitude > 0x7f800000u) {
    code = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520, halfway between the largest f16 and 2^16
    code = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // 2^-14, the smallest normal f16
    const uint32_t rebased = magnitude - ((127u - 15u) << 23);
    code = (rebased + 0xfffu + (rebased >> 13 & 1u)) >> 13;
  } else if (magnitude >= 0x33000000u) {  // 2^-25, half of the smallest f16: below it everything is zero
    const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u, shift = 126u - (magnitude >> 23);
    const uint32_t rest = significand & ((1u << shift) - 1u), half = 1u << (shift - 1u);
    code = significand >> shift;
    code += (rest > half || (rest == half && (code & 1u))) ? 1u : 0u;
  }
  return static_cast<uint16_t>((bits >> 16 & 0x8000u) | code);
}

// From double, rounded once.
uint16_t double_to_f16(double value);
uint16_t double_to_bf16(double value);

// The formats of 4, 6 and 8 bits; codes are in the low bits. Sources: OCP 8-bit Floating Point Specification 1.0, OCP
// Microscaling Formats 1.0, and for the FNUZ kinds (no infinity, no negative zero; 0x80 is NaN) arXiv 2206.02915.
enum class SmallFloat : uint8_t { kE4m3Fn, kE4m3FnUz, kE5m2, kE5m2FnUz, kE2m1, kE2m3, kE3m2, kE8m0 };
inline constexpr int kSmallFloatKinds = 8;

// The width of a code in bits: 4, 6 or 8.
int small_float_bits(SmallFloat kind);

// Exact. Bits above the width are ignored.
float small_float_to_float(SmallFloat kind, uint8_t code);

// As ONNX's Cast and QuantizeLinear define it. A finite value whose rounded magnitude is over the largest finite one,
// and infinity, become the largest when `saturate`, otherwise infinity or (where the format has none) NaN. The kinds of
// 4 and 6 bits always saturate, and NaN becomes -0 there. e8m0 goes by `to_e8m0` with rounding up.
uint8_t to_small_float(SmallFloat kind, double value, bool saturate = true);

// 2^(code - 127); 255 is NaN; there is no zero and no sign. The magnitude of `value` is converted (ONNX leaves negative
// values open). Rounding is to the next power of two above, below, or to the nearer one with ties up. Outside
// [2^-127, 2^127], zero and infinity included: the nearest end when `saturate`, else NaN.
enum class E8m0Round : uint8_t { kUp, kDown, kNearest };
uint8_t to_e8m0(double value, E8m0Round round = E8m0Round::kUp, bool saturate = true);

}  // namespace mica
