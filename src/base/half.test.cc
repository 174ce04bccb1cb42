#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace mica {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What a sign-magnitude code means, by the textbook formula and the C library.
double formula(int mantissa_bits, int bias, uint32_t magnitude) {
  const int field = static_cast<int>(magnitude >> mantissa_bits);
  const double mantissa = magnitude & ((1u << mantissa_bits) - 1), unit = 1 << mantissa_bits;
  return field ? std::ldexp(1 + mantissa / unit, field - bias) : std::ldexp(mantissa / unit, 1 - bias);
}

// Checks an encoder at every non-negative value of a format, at the midpoints between neighbours (ties go to the even
// code) and just beside both. `values[c]` is the value of code c; codes are consecutive.
void expect_rounding(const std::vector<double>& values, const std::function<uint32_t(double)>& encode,
                     const char* what) {
  for (size_t c = 0; c < values.size(); ++c) {
    EXPECT_EQ(encode(values[c]), c) << what;
    if (c + 1 == values.size()) break;
    const double middle = (values[c] + values[c + 1]) / 2;  // exact: one more bit than the format
    ASSERT_EQ(encode(middle), c + (c & 1)) << what << " tie above code " << c;
    ASSERT_EQ(encode(std::nextafter(middle, 0)), c) << what << " below the tie above code " << c;
    ASSERT_EQ(encode(std::nextafter(middle, kInfinity)), c + 1) << what << " over the tie above code " << c;
  }
}

TEST(Half, F16DecodesEveryCode) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float got = f16_to_float(static_cast<uint16_t>(code));
    const uint32_t magnitude = code & 0x7fff;
    EXPECT_EQ(std::signbit(got), code >= 0x8000);
    if (magnitude > 0x7c00) {
      EXPECT_TRUE(std::isnan(got));
      EXPECT_EQ(float_to_f16(got), code | 0x200);
    } else {
      const double want = magnitude == 0x7c00 ? kInfinity : formula(10, 15, magnitude);
      ASSERT_EQ(std::fabs(static_cast<double>(got)), want) << code;
      ASSERT_EQ(float_to_f16(got), code);
      ASSERT_EQ(double_to_f16(got), code);
    }
  }
}

TEST(Half, Bf16DecodesEveryCode) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float got = bf16_to_float(static_cast<uint16_t>(code));
    const uint32_t magnitude = code & 0x7fff;
    if (magnitude > 0x7f80) {
      EXPECT_TRUE(std::isnan(got));
      EXPECT_EQ(float_to_bf16(got), code | 0x40);
    } else {
      const double want = magnitude == 0x7f80 ? kInfinity : formula(7, 127, magnitude);
      ASSERT_EQ(static_cast<double>(got), code >= 0x8000 ? -want : want);
      ASSERT_EQ(float_to_bf16(got), code);
      ASSERT_EQ(double_to_bf16(got), code);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  std::vector<double> f16(0x7c00), bf16(0x7f80);
  for (uint32_t c = 0; c < f16.size(); ++c) f16[c] = formula(10, 15, c);
  for (uint32_t c = 0; c < bf16.size(); ++c) bf16[c] = formula(7, 127, c);
  expect_rounding(
      f16, [](double v) { return double_to_f16(v); }, "f16");
  expect_rounding(
      bf16, [](double v) { return double_to_bf16(v); }, "bf16");
  for (size_t c = 0; c + 1 < f16.size(); ++c) {
    const float middle = static_cast<float>((f16[c] + f16[c + 1]) / 2);
    ASSERT_EQ(float_to_f16(middle), c + (c & 1));
    ASSERT_EQ(float_to_f16(std::nextafterf(middle, 0)), c);
    ASSERT_EQ(float_to_f16(std::nextafterf(-middle, -HUGE_VALF)), (c + 1) | 0x8000);
  }
  for (size_t c = 0; c + 1 < bf16.size(); ++c) {
    const float middle = static_cast<float>((bf16[c] + bf16[c + 1]) / 2);
    ASSERT_EQ(float_to_bf16(middle), c + (c & 1));
    ASSERT_EQ(float_to_bf16(std::nextafterf(middle, 0)), c);
    ASSERT_EQ(float_to_bf16(std::nextafterf(-middle, -HUGE_VALF)), (c + 1) | 0x8000);
  }
}

TEST(Half, FloatAndDoubleAgree) {
  uint32_t state = 1;
  for (int i = 0; i < 300000; ++i) {
    state = state * 1664525u + 1013904223u;
    float v;
    const uint32_t bits = state ^ state >> 13;
    std::memcpy(&v, &bits, 4);
    if (std::isnan(v)) continue;
    ASSERT_EQ(float_to_f16(v), double_to_f16(v)) << v;
    ASSERT_EQ(float_to_bf16(v), double_to_bf16(v)) << v;
  }
}

TEST(Half, OverflowAndSpecials) {
  EXPECT_EQ(double_to_f16(65504), 0x7bff);
  EXPECT_EQ(double_to_f16(std::nextafter(65520., 0)), 0x7bff);
  EXPECT_EQ(double_to_f16(65520), 0x7c00);
  EXPECT_EQ(float_to_f16(std::nextafterf(65520.f, 0)), 0x7bff);
  EXPECT_EQ(float_to_f16(65520.f), 0x7c00);
  EXPECT_EQ(double_to_f16(-1e300), 0xfc00);
  EXPECT_EQ(double_to_bf16(1e300), 0x7f80);
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(double_to_f16(-0.0), 0x8000);
  EXPECT_EQ(double_to_f16(5e-324), 0);
  EXPECT_EQ(double_to_bf16(-5e-324), 0x8000);
  EXPECT_EQ(double_to_f16(kNan) & 0x7e00, 0x7e00);
  EXPECT_EQ(double_to_bf16(-kNan) & 0x7fc0, 0x7fc0);
}

TEST(Half, DoubleRoundsOnce) {
  const double over_f16 = 1 + 0x1p-11 + 0x1p-40, over_bf16 = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(double_to_f16(over_f16), 0x3c01);
  EXPECT_EQ(float_to_f16(static_cast<float>(over_f16)), 0x3c00);  // twice rounded: what must not happen inside
  EXPECT_EQ(double_to_bf16(over_bf16), 0x3f81);
  EXPECT_EQ(float_to_bf16(static_cast<float>(over_bf16)), 0x3f80);
}

struct Kind {
  SmallFloat kind;
  const char* name;
  int mantissa_bits, bias;
  uint32_t finite;  // number of finite non-negative codes
  double largest;
};
constexpr Kind kKinds[] = {
    {SmallFloat::kE4m3Fn, "e4m3fn", 3, 7, 0x7f, 448}, {SmallFloat::kE4m3FnUz, "e4m3fnuz", 3, 8, 0x80, 240},
    {SmallFloat::kE5m2, "e5m2", 2, 15, 0x7c, 57344},  {SmallFloat::kE5m2FnUz, "e5m2fnuz", 2, 16, 0x80, 57344},
    {SmallFloat::kE2m1, "e2m1", 1, 1, 8, 6},          {SmallFloat::kE2m3, "e2m3", 3, 1, 32, 7.5},
    {SmallFloat::kE3m2, "e3m2", 2, 3, 32, 28},
};

TEST(SmallFloats, EveryCodeDecodesAndReturns) {
  for (const Kind& k : kKinds) {
    SCOPED_TRACE(k.name);
    const int bits = small_float_bits(k.kind);
    const uint32_t sign_bit = 1u << (bits - 1);
    EXPECT_EQ(small_float_to_float(k.kind, static_cast<uint8_t>(k.finite - 1)), k.largest);
    for (uint32_t code = 0; code < 2 * sign_bit; ++code) {
      const float got = small_float_to_float(k.kind, static_cast<uint8_t>(code));
      const uint32_t magnitude = code & (sign_bit - 1);
      const bool uz_nan = k.finite == 0x80 && code == 0x80;
      if (magnitude < k.finite && !uz_nan) {
        const double want = formula(k.mantissa_bits, k.bias, magnitude);
        EXPECT_EQ(got, code & sign_bit ? -want : want);
        EXPECT_EQ(std::signbit(got), (code & sign_bit) != 0);
        for (bool saturate : {false, true}) EXPECT_EQ(to_small_float(k.kind, got, saturate), code);
      } else if (k.kind == SmallFloat::kE5m2 && magnitude == 0x7c) {
        EXPECT_EQ(got, code & sign_bit ? -HUGE_VALF : HUGE_VALF);
        EXPECT_EQ(to_small_float(k.kind, got, false), code);
      } else {
        EXPECT_TRUE(std::isnan(got)) << code;
        EXPECT_TRUE(std::isnan(small_float_to_float(k.kind, to_small_float(k.kind, got, true))));
      }
    }
  }
}

TEST(SmallFloats, RoundsToNearestEven) {
  for (const Kind& k : kKinds) {
    std::vector<double> values(k.finite);
    for (uint32_t c = 0; c < k.finite; ++c) values[c] = formula(k.mantissa_bits, k.bias, c);
    for (bool saturate : {false, true}) {
      expect_rounding(
          values, [&](double v) { return to_small_float(k.kind, v, saturate); }, k.name);
    }
  }
}

TEST(SmallFloats, Overflow) {
  const auto convert = [](SmallFloat kind, double v, bool saturate) {
    return small_float_to_float(kind, to_small_float(kind, v, saturate));
  };
  for (const Kind& k : kKinds) {
    SCOPED_TRACE(k.name);
    for (double v : {kInfinity, 1e300, k.largest * 1.2}) {
      EXPECT_EQ(convert(k.kind, v, true), k.largest);
      EXPECT_EQ(convert(k.kind, -v, true), -k.largest);
      if (small_float_bits(k.kind) < 8) {
        EXPECT_EQ(convert(k.kind, -v, false), -k.largest);
      } else if (k.kind == SmallFloat::kE5m2) {
        EXPECT_EQ(convert(k.kind, -v, false), -kInfinity);
      } else {
        EXPECT_TRUE(std::isnan(convert(k.kind, v, false)));
        EXPECT_TRUE(std::isnan(convert(k.kind, -v, false)));
      }
    }
  }
  EXPECT_EQ(to_small_float(SmallFloat::kE4m3Fn, 464, false), 0x7e);  // a tie to the even neighbour: the largest
  EXPECT_EQ(to_small_float(SmallFloat::kE4m3Fn, 464.001, false), 0x7f);
  EXPECT_EQ(to_small_float(SmallFloat::kE4m3Fn, -464.001, false), 0xff);
  EXPECT_EQ(to_small_float(SmallFloat::kE5m2, 61440, false), 0x7c);
  EXPECT_EQ(to_small_float(SmallFloat::kE4m3FnUz, 248, false), 0x80);
}

TEST(SmallFloats, NanAndZero) {
  EXPECT_EQ(to_small_float(SmallFloat::kE2m1, kNan), 0x8);
  EXPECT_EQ(to_small_float(SmallFloat::kE2m3, -kNan), 0x20);
  EXPECT_EQ(to_small_float(SmallFloat::kE4m3Fn, std::copysign(kNan, -1)), 0xff);
  EXPECT_EQ(to_small_float(SmallFloat::kE4m3FnUz, kNan), 0x80);
  EXPECT_EQ(to_small_float(SmallFloat::kE4m3FnUz, -0.0), 0);
  EXPECT_EQ(to_small_float(SmallFloat::kE5m2FnUz, -1e-30), 0);
  EXPECT_EQ(to_small_float(SmallFloat::kE5m2, -1e-30), 0x80);
}

TEST(E8m0, EveryCode) {
  for (uint32_t code = 0; code < 255; ++code) {
    const float got = small_float_to_float(SmallFloat::kE8m0, static_cast<uint8_t>(code));
    EXPECT_EQ(got, std::ldexp(1.0, static_cast<int>(code) - 127));
    for (E8m0Round round : {E8m0Round::kUp, E8m0Round::kDown, E8m0Round::kNearest}) {
      for (bool saturate : {false, true}) EXPECT_EQ(to_e8m0(got, round, saturate), code);
    }
    if (code == 254) break;
    const double half = 1.5 * static_cast<double>(got);
    EXPECT_EQ(to_e8m0(std::nextafter(static_cast<double>(got), kInfinity), E8m0Round::kUp), code + 1);
    EXPECT_EQ(to_e8m0(std::nextafter(2.0 * got, 0), E8m0Round::kDown), code);
    EXPECT_EQ(to_e8m0(half, E8m0Round::kNearest), code + 1);
    EXPECT_EQ(to_e8m0(std::nextafter(half, 0), E8m0Round::kNearest), code);
  }
  EXPECT_TRUE(std::isnan(small_float_to_float(SmallFloat::kE8m0, 255)));
}

TEST(E8m0, OutOfRange) {
  for (E8m0Round round : {E8m0Round::kUp, E8m0Round::kDown, E8m0Round::kNearest}) {
    EXPECT_EQ(to_e8m0(0, round, true), 0);
    EXPECT_EQ(to_e8m0(0, round, false), 255);
    EXPECT_EQ(to_e8m0(0x1p-128, round, true), 0);
    EXPECT_EQ(to_e8m0(0x1p-128, round, false), 255);
    EXPECT_EQ(to_e8m0(1.75 * 0x1p127, round, true), 254);
    EXPECT_EQ(to_e8m0(1.75 * 0x1p127, round, false), 255);
    EXPECT_EQ(to_e8m0(kInfinity, round, true), 254);
    EXPECT_EQ(to_e8m0(kInfinity, round, false), 255);
    EXPECT_EQ(to_e8m0(kNan, round, true), 255);
  }
  EXPECT_EQ(to_small_float(SmallFloat::kE8m0, 1.1), 128);
}

}  // namespace
}  // namespace mica
