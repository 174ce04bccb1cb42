#include "base/half.h"

namespace mica {
namespace {

constexpr uint64_t kDoubleInfinity = 0x7ffull << 52;
constexpr uint64_t kDoubleFraction = (1ull << 52) - 1;

// A sign-magnitude format. Magnitudes above `largest` are infinity and NaN codes, or do not exist.
struct Format {
  int bits, mantissa_bits, bias;
  uint32_t largest;    // magnitude code of the largest finite value
  uint32_t overflow;   // magnitude code of what lies above it when not saturating
  uint32_t nan;        // magnitude code of NaN
  bool unsigned_zero;  // FNUZ: the code of -0 is the only NaN
};

constexpr Format kF16 = {16, 10, 15, 0x7bff, 0x7c00, 0x7e00, false};
constexpr Format kBf16 = {16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false};
constexpr Format kSmall[] = {
    {8, 3, 7, 0x7e, 0x7f, 0x7f, false}, {8, 3, 8, 0x7f, 0x80, 0x80, true}, {8, 2, 15, 0x7b, 0x7c, 0x7e, false},
    {8, 2, 16, 0x7f, 0x80, 0x80, true}, {4, 1, 1, 0x07, 0x07, 0, false},   {6, 3, 1, 0x1f, 0x1f, 0, false},
    {6, 2, 3, 0x1f, 0x1f, 0, false},
};

const Format& format_of(SmallFloat kind) { return kSmall[static_cast<int>(kind)]; }

bool has_nan(const Format& format) { return format.nan != 0; }

// The code of a finite magnitude (bits of a double without sign) on the format's grid extended upwards without end:
// codes of adjacent values are adjacent, so a carry out of the mantissa is right by itself.
uint32_t round_magnitude(const Format& format, uint64_t magnitude) {
  const int exponent =
      static_cast<int>(magnitude >> 52) - 1023;  // a subnormal double is far below every format's half ulp
  const uint64_t significand = (magnitude & kDoubleFraction) | 1ull << 52;
  const int least = 1 - format.bias;  // exponent of the smallest normal value
  const bool normal = exponent >= least;
  const int shift = 52 - format.mantissa_bits + (normal ? 0 : least - exponent);
  if (shift > 54) return 0;  // below half of the smallest value; 54 can still be above it or a tie
  const uint64_t rest = significand & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  uint64_t kept = significand >> shift;
  kept += rest > half || (rest == half && (kept & 1));
  if (normal) kept += static_cast<uint64_t>(exponent - least) << format.mantissa_bits;
  return static_cast<uint32_t>(kept);
}

uint32_t encode(const Format& format, double value, bool saturate) {
  const uint64_t bits = __builtin_bit_cast(uint64_t, value), magnitude = bits & ~(1ull << 63);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63) << (format.bits - 1);
  if (magnitude > kDoubleInfinity) {
    const uint64_t payload = format.bits == 16 ? (magnitude & kDoubleFraction) >> (52 - format.mantissa_bits) : 0;
    if (!has_nan(format)) return 1u << (format.bits - 1);
    return format.unsigned_zero ? format.nan : sign | format.nan | static_cast<uint32_t>(payload);
  }
  uint32_t code = magnitude == kDoubleInfinity ? format.largest + 1 : round_magnitude(format, magnitude);
  if (code > format.largest) {
    code = saturate ? format.largest : format.overflow;
    if (format.unsigned_zero && !saturate) return format.nan;
  }
  return format.unsigned_zero && code == 0 ? 0 : sign | code;
}

float decode(const Format& format, uint32_t code) {
  const uint32_t sign_bit = 1u << (format.bits - 1), magnitude = code & (sign_bit - 1);
  const uint32_t sign = code & sign_bit ? 0x80000000u : 0;
  if (format.unsigned_zero && (code & (2 * sign_bit - 1)) == sign_bit) return __builtin_bit_cast(float, 0x7fc00000u);
  if (magnitude > format.largest) {
    const bool infinite = magnitude == format.overflow && format.overflow != format.nan;
    return __builtin_bit_cast(float, sign | (infinite ? 0x7f800000u : 0x7fc00000u));
  }
  const uint32_t field = magnitude >> format.mantissa_bits, mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  if (field == 0 && mantissa == 0) return __builtin_bit_cast(float, sign);
  // value = significand * 2^scale with a significand of a few bits; its highest bit becomes the float's implicit one.
  const uint32_t significand = field ? mantissa | 1u << format.mantissa_bits : mantissa;
  const int scale = static_cast<int>(field ? field : 1) - format.bias - format.mantissa_bits;
  const int top = 31 - __builtin_clz(significand);
  const uint32_t exponent = static_cast<uint32_t>(scale + top + 127);
  return __builtin_bit_cast(float, sign | exponent << 23 | (significand << (23 - top) & 0x7fffffu));
}

}  // namespace

uint16_t double_to_f16(double value) { return static_cast<uint16_t>(encode(kF16, value, false)); }
uint16_t double_to_bf16(double value) { return static_cast<uint16_t>(encode(kBf16, value, false)); }

int small_float_bits(SmallFloat kind) { return kind == SmallFloat::kE8m0 ? 8 : format_of(kind).bits; }

float small_float_to_float(SmallFloat kind, uint8_t code) {
  if (kind != SmallFloat::kE8m0) return decode(format_of(kind), code);
  if (code == 255) return __builtin_bit_cast(float, 0x7fc00000u);
  return __builtin_bit_cast(float, code ? static_cast<uint32_t>(code) << 23 : 0x00400000u);  // 2^-127 is a subnormal
}

uint8_t to_small_float(SmallFloat kind, double value, bool saturate) {
  if (kind == SmallFloat::kE8m0) return to_e8m0(value, E8m0Round::kUp, saturate);
  const Format& format = format_of(kind);
  return static_cast<uint8_t>(encode(format, value, saturate || !has_nan(format)));
}

uint8_t to_e8m0(double value, E8m0Round round, bool saturate) {
  const uint64_t magnitude = __builtin_bit_cast(uint64_t, value) & ~(1ull << 63);
  if (magnitude > kDoubleInfinity) return 255;
  constexpr uint64_t kLeast = (1023ull - 127) << 52, kMost = (1023ull + 127) << 52;  // doubles order as their bits do
  if (magnitude < kLeast) return saturate ? 0 : 255;
  if (magnitude > kMost) return saturate ? 254 : 255;
  const uint64_t fraction = magnitude & kDoubleFraction;
  const bool up = round == E8m0Round::kUp ? fraction != 0 : round == E8m0Round::kNearest && fraction >= 1ull << 51;
  return static_cast<uint8_t>((magnitude >> 52) - (1023 - 127) + up);
}

}  // namespace mica
