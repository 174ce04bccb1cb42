// Two vectors that go through the same operations side by side. A function over vectors that is one long chain, such as
// an exponential, leaves a processor waiting for each step's result, and the next vector's steps may be beyond what it
// looks ahead to; as a template over F32 and Pair it is written once, and two vectors' steps take turns.
#pragma once
#include "simd/simd.h"

namespace mica::MICA_ISA {

struct Pair {
  F32 first, second;
};

template <class V>
inline constexpr bool kIsPair = false;
template <>
inline constexpr bool kIsPair<Pair> = true;
template <class... V>
concept WithPair = (kIsPair<V> || ...);

MICA_INLINE F32 first_of(F32 a) { return a; }
MICA_INLINE F32 first_of(const Pair& a) { return a.first; }
MICA_INLINE F32 second_of(F32 a) { return a; }
MICA_INLINE F32 second_of(const Pair& a) { return a.second; }

// An operation of simd.h on pairs; an operand that is one vector stands for both.
#define MICA_PAIRED(name)                                                     \
  template <class... V>                                                       \
  requires WithPair<V...> MICA_INLINE Pair name(const V&... v) {              \
    return {MICA_ISA::name(first_of(v)...), MICA_ISA::name(second_of(v)...)}; \
  }
MICA_PAIRED(abs)
MICA_PAIRED(neg)
MICA_PAIRED(add)
MICA_PAIRED(sub)
MICA_PAIRED(mul)
MICA_PAIRED(div)
MICA_PAIRED(fma)
MICA_PAIRED(fnma)
MICA_PAIRED(min_fast)
MICA_PAIRED(max_fast)
MICA_PAIRED(scale_by_rounded)
#undef MICA_PAIRED

MICA_INLINE Pair load_pair(const float* p) { return {load(p), load(p + kLanes)}; }
MICA_INLINE void store(float* p, const Pair& a) {
  store(p, a.first);
  store(p + kLanes, a.second);
}

}  // namespace mica::MICA_ISA
