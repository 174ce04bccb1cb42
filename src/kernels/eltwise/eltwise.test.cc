#include "kernels/eltwise/eltwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "device/cpu/every_isa.h"

namespace mica {
namespace {

// Error against doubles in units in the last place of the float result.
double ulps(double wanted, float got) {
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : INFINITY;
  if (static_cast<double>(got) == static_cast<double>(static_cast<float>(wanted))) return 0;
  if (!std::isfinite(got)) return INFINITY;
  const double magnitude = std::fmax(std::fabs(wanted), 0x1p-126);
  return std::fabs(wanted - static_cast<double>(got)) / std::ldexp(1, std::ilogb(magnitude) - 23);
}

struct Bound {
  Pointwise f;
  float low, high;
  double ulp;
};
// The bounds of math.inl, and half a unit for rounding the result.
const Bound kBounds[] = {
    {Pointwise::kExp, -87, 88.7f, 2},    {Pointwise::kLog, 0, 10, 2},        {Pointwise::kLog, 0, 3e38f, 2},
    {Pointwise::kSigmoid, -80, 80, 3.5}, {Pointwise::kTanh, -10, 10, 3},     {Pointwise::kErf, -5, 5, 3},
    {Pointwise::kElu, -20, 1, 3},        {Pointwise::kSoftplus, -30, 30, 4}, {Pointwise::kMish, -20, 30, 6}};

class EltwiseMath : public testing::TestWithParam<Isa> {};

TEST_P(EltwiseMath, StaysWithinItsBounds) {
  constexpr int64_t kCount = 100003;
  std::vector<float> x(kCount), y(kCount);
  for (const Bound& bound : kBounds) {
    for (int64_t i = 0; i < kCount; ++i)
      x[static_cast<size_t>(i)] =
          bound.low + (bound.high - bound.low) * static_cast<float>(i) / static_cast<float>(kCount - 1);
    eltwise_kernels(GetParam()).apply(bound.f, x.data(), nullptr, y.data(), kCount, 1, 0);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = ulps(apply(bound.f, static_cast<double>(x[i]), 0, 1, 0), y[i]);
      if (error > worst) {
        worst = error;
        where = x[i];
      }
    }
    const bool fused = GetParam() != Isa::kPortable && GetParam() != Isa::kSse2;
    EXPECT_LE(worst, bound.ulp + (fused ? 0 : 1)) << info_of(bound.f).name << " at " << where;
  }
}
INSTANTIATE_TEST_SUITE_P(Sets, EltwiseMath, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
