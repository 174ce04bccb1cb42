// Holds every operation of the vector traits, on every instruction set that the machine has, against scalar arithmetic.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/every_isa.h"
#include "mica_isas.inc"
#include "simd/simd_probe.h"

namespace mica {
#define MICA_DECLARE_PROBES(name)      \
  namespace name {                     \
  extern const SimdProbes kSimdProbes; \
  }
MICA_FOREACH_ISA(MICA_DECLARE_PROBES)
#undef MICA_DECLARE_PROBES

namespace {

const SimdProbes* probes_of(Isa isa) {
#define MICA_PICK_PROBES(name) \
  if (name_of(isa) == #name) return &name::kSimdProbes;
  MICA_FOREACH_ISA(MICA_PICK_PROBES)
#undef MICA_PICK_PROBES
  return nullptr;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

int32_t bits(float x) { return std::bit_cast<int32_t>(x); }
float from_bits(uint32_t x) { return std::bit_cast<float>(x); }
float truth(bool x) { return x ? 1.0f : 0.0f; }
float wrap(uint32_t x) { return from_bits(x); }

double power_of_two(float n) { return std::exp2(static_cast<double>(std::nearbyint(n))); }

using Scalar = std::function<float(float, float, float)>;

float looked_up(float, float b, float) {
  constexpr float kTable[] = {3, 1, 4, 1.5f, 9, -2, 6, 5};
  return kTable[static_cast<int>(std::min(7.0f, std::fabs(std::nearbyint(b))))];
}

std::map<std::string, Scalar> references(bool fused) {
  auto muladd = [fused](float a, float b, float c) { return fused ? std::fma(a, b, c) : a * b + c; };
  auto u = [](float x) { return std::bit_cast<uint32_t>(x); };
  return {
      {"add", [](float a, float b, float) { return a + b; }},
      {"sub", [](float a, float b, float) { return a - b; }},
      {"mul", [](float a, float b, float) { return a * b; }},
      {"div", [](float a, float b, float) { return a / b; }},
      {"fma", muladd},
      {"fms", [=](float a, float b, float c) { return muladd(a, b, -c); }},
      {"fnma", [=](float a, float b, float c) { return muladd(-a, b, c); }},
      {"sqrt", [](float a, float, float) { return std::sqrt(a); }},
      {"scale_by_power", [](float a, float b, float) { return static_cast<float>(a * power_of_two(b)); }},
      {"abs", [](float a, float, float) { return std::fabs(a); }},
      {"neg", [](float a, float, float) { return -a; }},
      {"min_fast", [](float a, float b, float) { return std::isnan(b) ? kNan : std::min(a, b); }},
      {"max_fast", [](float a, float b, float) { return std::isnan(b) ? kNan : std::max(a, b); }},
      {"min_nan", [](float a, float b, float) { return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b); }},
      {"max_nan", [](float a, float b, float) { return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b); }},
      {"floor", [](float a, float, float) { return std::floor(a); }},
      {"ceil", [](float a, float, float) { return std::ceil(a); }},
      {"trunc", [](float a, float, float) { return std::trunc(a); }},
      {"round_even", [](float a, float, float) { return std::nearbyint(a); }},
      {"eq", [](float a, float b, float) { return truth(a == b); }},
      {"ne", [](float a, float b, float) { return truth(a != b); }},
      {"lt", [](float a, float b, float) { return truth(a < b); }},
      {"le", [](float a, float b, float) { return truth(a <= b); }},
      {"gt", [](float a, float b, float) { return truth(a > b); }},
      {"ge", [](float a, float b, float) { return truth(a >= b); }},
      {"is_nan", [](float a, float, float) { return truth(std::isnan(a)); }},
      {"mask_and", [](float a, float b, float c) { return truth(a < b && b < c); }},
      {"mask_or", [](float a, float b, float c) { return truth(a < b || b < c); }},
      {"mask_not", [](float a, float b, float) { return truth(!(a < b)); }},
      {"bit_and", [=](float a, float b, float) { return wrap(u(a) & u(b)); }},
      {"bit_or", [=](float a, float b, float) { return wrap(u(a) | u(b)); }},
      {"bit_xor", [=](float a, float b, float) { return wrap(u(a) ^ u(b)); }},
      {"bit_andnot", [=](float a, float b, float) { return wrap(~u(a) & u(b)); }},
      {"select", [](float a, float b, float c) { return a < b ? a : c; }},
      {"i_add", [=](float a, float b, float) { return wrap(u(a) + u(b)); }},
      {"i_sub", [=](float a, float b, float) { return wrap(u(a) - u(b)); }},
      {"i_mul", [=](float a, float b, float) { return wrap(u(a) * u(b)); }},
      {"i_min", [](float a, float b, float) { return wrap(std::min(bits(a), bits(b))); }},
      {"i_max", [](float a, float b, float) { return wrap(std::max(bits(a), bits(b))); }},
      {"i_and", [=](float a, float b, float) { return wrap(u(a) & u(b)); }},
      {"i_or", [=](float a, float b, float) { return wrap(u(a) | u(b)); }},
      {"i_xor", [=](float a, float b, float) { return wrap(u(a) ^ u(b)); }},
      {"i_andnot", [=](float a, float b, float) { return wrap(~u(a) & u(b)); }},
      {"i_shl", [=](float a, float, float) { return wrap(u(a) << 5); }},
      {"i_shr", [=](float a, float, float) { return wrap(u(a) >> 5); }},
      {"i_sar", [](float a, float, float) { return wrap(bits(a) >> 5); }},
      {"i_select", [](float a, float b, float) { return bits(a) > bits(b) ? a : b; }},
      {"i_eq", [](float a, float b, float) { return truth(bits(a) == bits(b)); }},
      {"i_gt", [](float a, float b, float) { return truth(bits(a) > bits(b)); }},
      {"i_lt", [](float a, float b, float) { return truth(bits(a) < bits(b)); }},
      {"to_i32", [](float a, float, float) { return wrap(static_cast<int32_t>(std::nearbyint(a))); }},
      {"to_i32_trunc", [](float a, float, float) { return wrap(static_cast<int32_t>(a)); }},
      {"to_f32", [](float a, float, float) { return static_cast<float>(bits(a)); }},
      {"zero", [](float, float, float) { return 0.0f; }},
  };
}

std::vector<float> interesting() {
  std::vector<float> v = {0.0f,       -0.0f,      1.0f,        -1.0f,       0.5f,          -0.5f,    1.5f,
                          2.5f,       -2.5f,      0.3f,        -0.3f,       -0.7f,         1e-40f,   -1e-40f,
                          8388607.5f, 8388608.0f, 16777215.0f, -8388609.0f, 2147483520.0f, 3e9f,     -3e9f,
                          1e38f,      -1e38f,     kInf,        -kInf,       kNan,          65519.0f, 65520.0f,
                          6.1e-5f,    5.96e-8f,   2.98e-8f,    2.99e-8f,    3.14159f};
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) v.push_back(from_bits(random()));
  return v;
}

bool same(float got, float want, bool bitwise) {
  if (!bitwise && std::isnan(want)) return std::isnan(got);
  return bits(got) == bits(want);
}

// Where a conversion's value is unspecified there is nothing to compare.
bool unspecified(const std::string& name, float a, float b) {
  if (name == "to_i32" || name == "to_i32_trunc") return !(std::fabs(a) < 2147483000.0f);
  if (name == "scale_by_power" || name == "scale_by_rounded") {
    const double result = std::fabs(a * power_of_two(b));
    const float most = name == "scale_by_power" ? 250 : 126;
    return !(std::fabs(b) <= most || std::isnan(a)) || (result > 0 && result < 0x1p-126) ||
           (a != 0 && std::fabs(a) < 0x1p-126f);
  }
  if (name == "lookup") return std::isnan(b);
  if (name == "min_nan" || name == "max_nan") return a == 0 && b == 0;
  if (name == "min_fast" || name == "max_fast") return (a == 0 && b == 0) || (std::isnan(a) && !std::isnan(b));
  return false;
}

class Simd : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    p = probes_of(GetParam());
    ASSERT_NE(p, nullptr);
  }
  const SimdProbes* p = nullptr;
};

TEST_P(Simd, OperationsEqualScalarArithmetic) {
  std::map<std::string, Scalar> reference = references(p->has_fma);
  reference["scale_by_rounded"] = reference["scale_by_power"];
  reference["lookup"] = looked_up;
  reference["fma_halves"] = reference["fma"];
  const std::vector<float> v = interesting();
  const size_t n = v.size(), lanes = p->lanes;
  int compared = 0;
  for (int i = 0; i < p->count; ++i) {
    const std::string name = p->probes[i].name;
    if (!reference.contains(name)) continue;
    ++compared;
    const bool bitwise = name[0] == 'i' && name[1] == '_';
    for (size_t step : {1, 7, 31}) {
      for (size_t at = 0; at + lanes <= n; at += lanes) {
        std::vector<float> a(lanes), b(lanes), c(lanes), out(lanes);
        for (size_t l = 0; l < lanes; ++l) {
          a[l] = v[at + l];
          b[l] = v[(at * step + l * step + step) % n];
          c[l] = v[(at + 3 * l + 5 * step) % n];
        }
        p->probes[i].run(a.data(), b.data(), c.data(), out.data());
        for (size_t l = 0; l < lanes; ++l) {
          if (unspecified(name, a[l], b[l])) continue;
          const float want = reference.at(name)(a[l], b[l], c[l]);
          ASSERT_TRUE(same(out[l], want, bitwise))
              << name << "(" << a[l] << ", " << b[l] << ", " << c[l] << ") gives " << out[l] << ", not " << want;
        }
      }
    }
  }
  EXPECT_EQ(compared, static_cast<int>(reference.size()));
}

TEST_P(Simd, PartialAccessTouchesNothingElse) {
  const int lanes = p->lanes;
  for (int n = 0; n <= lanes; ++n) {
    // The heap block ends at the n-th element: an address sanitizer sees one element too many.
    std::vector<float> in(n), out(lanes, -1.0f);
    std::vector<int32_t> in_i(n), out_i(lanes, -1);
    for (int i = 0; i < n; ++i) in[i] = static_cast<float>(in_i[i] = i + 1);
    p->load_store_partial(in.data(), out.data(), n);
    p->load_store_partial_i32(in_i.data(), out_i.data(), n);
    for (int i = 0; i < lanes; ++i) {
      EXPECT_EQ(out[i], i < n ? static_cast<float>(i + 1) : -1.0f);
      EXPECT_EQ(out_i[i], i < n ? i + 1 : -1);
    }
  }
}

TEST_P(Simd, Reductions) {
  const int lanes = p->lanes;
  std::vector<float> a(lanes);
  for (int i = 0; i < lanes; ++i) a[i] = static_cast<float>((i * 7) % lanes) - 2.0f;
  EXPECT_EQ(p->reduce[0](a.data()), static_cast<float>(lanes * (lanes - 1) / 2 - 2 * lanes));
  EXPECT_EQ(p->reduce[1](a.data()), static_cast<float>(lanes - 3));
  EXPECT_EQ(p->reduce[2](a.data()), -2.0f);
  for (int i = 0; i < lanes; ++i) {
    std::vector<float> with_nan = a;
    with_nan[i] = kNan;
    for (auto reduce : p->reduce) EXPECT_TRUE(std::isnan(reduce(with_nan.data()))) << i;
  }
}

TEST_P(Simd, AnyAndAll) {
  const int lanes = p->lanes;
  std::vector<int32_t> a(lanes, 0);
  EXPECT_EQ(p->any_all(a.data()), 0);
  for (int i = 0; i < lanes; ++i) {
    std::vector<int32_t> one = a, but_one(lanes, -1);
    one[i] = 1;
    but_one[i] = 0;
    EXPECT_EQ(p->any_all(one.data()), 1);
    EXPECT_EQ(p->any_all(but_one.data()), 1);
  }
  EXPECT_EQ(p->any_all(std::vector<int32_t>(lanes, 5).data()), 3);
}

TEST_P(Simd, TransposeStridesAndGather) {
  const int lanes = p->lanes;
  std::vector<float> in(lanes * lanes), out(lanes * lanes);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  p->transpose(in.data(), out.data());
  for (int i = 0; i < lanes; ++i)
    for (int j = 0; j < lanes; ++j) EXPECT_EQ(out[i * lanes + j], in[j * lanes + i]);
  p->exchange(in.data(), out.data());
  for (int n = 1, row = 0; n < lanes; n *= 2, ++row)
    for (int i = 0; i < lanes; ++i) EXPECT_EQ(out[row * lanes + i], in[i ^ n]);
  std::vector<float> spread(lanes * 3, -1.0f);
  p->strided(in.data(), 3, spread.data());
  for (int i = 0; i < lanes * 3; ++i) EXPECT_EQ(spread[i], i % 3 == 0 ? in[i] : -1.0f);
  std::vector<int32_t> index(lanes);
  for (int i = 0; i < lanes; ++i) index[i] = (i * 5 + 1) % static_cast<int>(in.size());
  p->gather(in.data(), index.data(), out.data());
  for (int i = 0; i < lanes; ++i) EXPECT_EQ(out[i], in[index[i]]);
  for (int shift = 0; shift < lanes; ++shift) {
    for (int i = 0; i < lanes; ++i) index[i] = (i * 3 + shift) % lanes;
    p->permute(in.data(), index.data(), out.data());
    for (int i = 0; i < lanes; ++i) EXPECT_EQ(out[i], in[index[i]]);
  }
}

// The value of a half by its definition.
double half_value(uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const double sign = h & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa ? std::nan("") : sign * kInf;
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}

TEST_P(Simd, HalfConversionsAreExactBothWays) {
  const int lanes = p->lanes;
  std::vector<uint16_t> in(lanes), back(lanes);
  std::vector<float> wide(lanes), up(lanes), down(lanes);
  for (uint32_t base = 0; base < 65536; base += lanes) {
    for (int i = 0; i < lanes; ++i) in[i] = static_cast<uint16_t>(base + i);
    p->f16_to_f32(in.data(), wide.data());
    p->f32_to_f16(wide.data(), back.data());
    for (int i = 0; i < lanes; ++i) {
      const double want = half_value(in[i]);
      ASSERT_TRUE(same(wide[i], static_cast<float>(want), false)) << in[i];
      ASSERT_TRUE(std::isnan(want) ? (back[i] & 0x7e00) == 0x7e00 : back[i] == in[i]) << in[i];
      // Half of a step up, and one float below and above it, decide between neighbours: to nearest, ties to even.
      const bool finite = (in[i] & 0x7fff) < 0x7bff;
      up[i] = finite ? static_cast<float>((want + half_value(static_cast<uint16_t>(in[i] + 1))) / 2) : 1.0f;
    }
    for (int nudge : {-1, 0, 1}) {
      for (int i = 0; i < lanes; ++i) down[i] = nudge ? std::nextafter(up[i], nudge > 0 ? up[i] * 2 : 0.0f) : up[i];
      p->f32_to_f16(down.data(), back.data());
      for (int i = 0; i < lanes; ++i) {
        if ((in[i] & 0x7fff) >= 0x7bff) continue;
        const bool to_next = nudge > 0 || (nudge == 0 && (in[i] & 1));
        ASSERT_EQ(back[i], in[i] + (to_next ? 1 : 0)) << in[i] << " " << nudge;
      }
    }
  }
  const float special[] = {65519.99f, 65520.0f, 1e9f, kInf, kNan, from_bits(0x7f800001), 1e-10f, -0.0f};
  const uint16_t want[] = {0x7bff, 0x7c00, 0x7c00, 0x7c00, 0x7e00, 0x7e00, 0, 0x8000};
  for (int k = 0; k < 8; ++k) {
    std::vector<float> a(lanes, special[k]);
    p->f32_to_f16(a.data(), back.data());
    for (int i = 0; i < lanes; ++i) EXPECT_EQ(back[i], want[k]) << special[k];
  }
}

TEST_P(Simd, BfloatRoundsToNearestEven) {
  const int lanes = p->lanes;
  const uint32_t in[] = {0x3f800000, 0x3f808000, 0x3f818000, 0x3f807fff, 0x3f808001, 0x7f7fffff,
                         0x7f800000, 0x7f800001, 0xffc00001, 0x80000000, 0x00008001, 0x3f7fffff};
  const uint16_t want[] = {0x3f80, 0x3f80, 0x3f82, 0x3f80, 0x3f81, 0x7f80,
                           0x7f80, 0x7fc0, 0xffc0, 0x8000, 0x0001, 0x3f80};
  for (int k = 0; k < 12; ++k) {
    std::vector<float> a(lanes, from_bits(in[k])), wide(lanes);
    std::vector<uint16_t> out(lanes);
    p->f32_to_bf16(a.data(), out.data());
    p->bf16_to_f32(out.data(), wide.data());
    for (int i = 0; i < lanes; ++i) {
      EXPECT_EQ(out[i], want[k]) << std::hex << in[k];
      EXPECT_EQ(bits(wide[i]), static_cast<int32_t>(uint32_t{want[k]} << 16));
    }
  }
}

TEST_P(Simd, BytesWidenAndSaturate) {
  const int lanes = p->lanes;
  const int32_t wide[] = {0,     1,     -1,     127,   128,    -128,      -129,      255, 256,
                          32767, 32768, -32769, 70000, -70000, INT32_MAX, INT32_MIN, 5};
  for (int n = 0; n <= lanes; ++n) {
    std::vector<int32_t> a(lanes), out(lanes);
    std::vector<int8_t> s(n);
    std::vector<uint8_t> u(n);
    for (int i = 0; i < lanes; ++i) a[i] = wide[(i + n) % 17];
    p->narrow_i8(a.data(), s.data(), n);
    p->narrow_u8(a.data(), u.data(), n);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(s[i], std::clamp(a[i], -128, 127));
      EXPECT_EQ(u[i], std::clamp(a[i], 0, 255));
    }
    p->widen_i8(s.data(), out.data(), n);
    for (int i = 0; i < lanes; ++i) EXPECT_EQ(out[i], i < n ? s[i] : 0);
    p->widen_u8(u.data(), out.data(), n);
    for (int i = 0; i < lanes; ++i) EXPECT_EQ(out[i], i < n ? u[i] : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Simd, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
