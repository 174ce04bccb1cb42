// GELU by look-ups, for tiles of products and element-wise chains alike: the same bits whether it is fused or not.
#pragma once
#include "simd/several.h"

namespace mica::MICA_ISA {

// |x|·erfc(|x|/√2)/2 in eight intervals around multiples of 0.8, one to a column: a minimax fit of degree 6 in the
// distance over 0.8, which is off by 6.4e-8 at most. It is 0 at 0 and at the last multiple, 5.6, behind which 6e-8 at
// most are left.
inline constexpr float kGeluSteps = 1.25f;  // a unit of |x|
inline constexpr int kGeluDegree = 6;
alignas(32) inline constexpr float kGeluFit[kGeluDegree + 1][8] = {
    {0, 0.16948433f, 0.087678865f, 0.019674085f, 0.0021988421f, 0.00012668507f, 3.8079393e-06f, 0},
    {0.39999995f, -0.015917392f, -0.09813981f, -0.036439486f, -0.0055534607f, -0.00040292586f, -1.4580947e-05f,
     -8.81738e-06f},
    {-0.25532132f, -0.12607442f, 0.019876895f, 0.026945326f, 0.0062862947f, 0.0005995489f, 2.6674214e-05f,
     -0.0001983604f},
    {-2.1361686e-05f, 0.06641992f, 0.021826254f, -0.008071492f, -0.004065364f, -0.0005479682f, -3.075837e-05f,
     -0.0016962278f},
    {0.02735328f, -0.00033716235f, -0.013942996f, -0.0012050706f, 0.0015138527f, 0.0003382128f, 2.519546e-05f,
     -0.0065334872f},
    {-0.00031770451f, -0.0069666076f, 0.0015997096f, 0.0017834406f, -0.00018856945f, -0.00014491122f, -1.6414351e-05f,
     -0.011610837f},
    {-0.0022606621f, 0.00081950583f, 0.0009778931f, -0.0004982079f, -9.303349e-05f, 3.7917216e-05f, 7.38962e-06f,
     -0.0077365437f},
};

// max(x, 0) - |x|·erfc(|x|/√2)/2, in two parts.
template <class V>
MICA_INLINE Begun<V> begin_gelu(V x) {
  const F32 rounder = set1(kRounder);
  const V place = min_fast(set1(7.0f), mul(set1(kGeluSteps), abs(x))), rounded = add(place, rounder);
  return {max_fast(zero(), x), sub(place, sub(rounded, rounder)), rounded};
}
template <class V>
MICA_INLINE V end_gelu(const Begun<V>& f) {
  V p = lookup(kGeluFit[kGeluDegree], f.rounded);
  MICA_UNROLL for (int i = kGeluDegree - 1; i >= 0; --i) p = fma(p, f.s, lookup(kGeluFit[i], f.rounded));
  return sub(f.x, p);
}
MICA_INLINE F32 gelu_vector(F32 x) { return end_gelu(begin_gelu(x)); }

}  // namespace mica::MICA_ISA
