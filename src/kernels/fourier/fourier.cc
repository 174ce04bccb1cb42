#include "kernels/fourier/fourier.h"

#include <cmath>

#include "base/isa.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                      \
  namespace set {                              \
  extern const FourierKernels fourier_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const FourierKernels& fourier_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::fourier_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::fourier_kernels;
}

bool fourier_factors(int64_t length, FourierPlan& plan) {
  plan.length = length;
  plan.passes = 0;
  int64_t fours = 0, rest = length;
  for (; rest % 4 == 0; rest /= 4) ++fours;
  if (rest % 2 == 0) {
    plan.factors[plan.passes++] = 2;
    rest /= 2;
  }
  for (; fours > 0; --fours) plan.factors[plan.passes++] = 4;
  for (int8_t p = 3; p <= kMaxFourierFactor; p = static_cast<int8_t>(p + 2))
    for (; rest % p == 0; rest /= p) plan.factors[plan.passes++] = p;
  return rest == 1;
}

int64_t fourier_roots(const FourierPlan& plan) {
  int64_t count = 0, after = plan.length;
  for (int k = 0; k < plan.passes; ++k) {
    after /= plan.factors[k];
    count += (plan.factors[k] - 1) * after;
  }
  return count;
}

void fill_fourier_roots(const FourierPlan& plan, float* re, float* im) {
  int64_t before = 1;
  const double turn = (plan.inverse ? 2 : -2) * M_PI / static_cast<double>(plan.length);
  for (int k = 0; k < plan.passes; ++k) {
    const int64_t p = plan.factors[k], after = plan.length / (before * p);
    for (int64_t j = 1; j < p; ++j)
      for (int64_t i = 0; i < after; ++i) {
        const double angle = turn * static_cast<double>(before * i * j);
        *re++ = static_cast<float>(std::cos(angle));
        *im++ = static_cast<float>(std::sin(angle));
      }
    before *= p;
  }
}

}  // namespace mica
