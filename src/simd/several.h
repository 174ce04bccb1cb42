// Vectors that go through the same operations side by side. A function over vectors that is one long chain, such as an
// exponential, leaves a processor waiting for each step's result, and the next vector's steps may be beyond what it
// looks ahead to; as a template over F32 and Several it is written once, and the vectors' steps take turns.
#pragma once
#include "simd/simd.h"

namespace mica::MICA_ISA {

// a * 2^n by a sum of exponents, which leaves the multiply-adds' units alone, for a whole number n that is still added
// to kRounder. NaN gives any number, and where the result is no normal number it is any below the smallest one.
MICA_INLINE F32 with_exponent(F32 a, F32 rounded) { return as_f32(add(as_i32(a), shift_left<23>(as_i32(rounded)))); }

template <int kCount>
struct Several {
  Several() = default;
  // Vector by vector: GCC copies a structure that leaves registers in pieces of half a vector, some of them by way of
  // integers, and a whole vector that is read right behind waits for them.
  MICA_INLINE Several(const Several& other) { MICA_UNROLL for (int i = 0; i < kCount; ++i) v[i] = other.v[i]; }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): it writes what is there
  MICA_INLINE Several& operator=(const Several& other) {
    MICA_UNROLL for (int i = 0; i < kCount; ++i) v[i] = other.v[i];
    return *this;
  }

  F32 v[kCount];
};

// How many vectors V stands for; 0: it is a vector.
template <class V>
inline constexpr int kSeveral = 0;
template <int kCount>
inline constexpr int kSeveral<Several<kCount>> = kCount;

template <class... V>
constexpr int most_vectors() {
  int most = 0;
  ((most = kSeveral<V> > most ? kSeveral<V> : most), ...);
  return most;
}
template <class... V>
using Widest = Several<most_vectors<V...>()>;
template <class... V>
concept WithSeveral = (most_vectors<V...>() > 0);

MICA_INLINE F32 vector_of(F32 a, int) { return a; }
template <int kCount>
MICA_INLINE F32 vector_of(const Several<kCount>& a, int i) {
  return a.v[i];
}

template <int kCount, class F>
MICA_INLINE Several<kCount> each(F f) {
  Several<kCount> a;
  MICA_UNROLL for (int i = 0; i < kCount; ++i) a.v[i] = f(i);
  return a;
}

// An operation of simd.h on several vectors; an operand that is one vector stands for all.
#define MICA_SEVERAL(name)                                                                           \
  template <class... V>                                                                              \
  requires WithSeveral<V...> MICA_INLINE Widest<V...> name(const V&... v) {                          \
    const auto one = [&](int i) __attribute__((always_inline)) { return name(vector_of(v, i)...); }; \
    return each<most_vectors<V...>()>(one);                                                          \
  }
MICA_SEVERAL(abs)
MICA_SEVERAL(add)
MICA_SEVERAL(sub)
MICA_SEVERAL(mul)
MICA_SEVERAL(div)
MICA_SEVERAL(fma)
MICA_SEVERAL(fnma)
MICA_SEVERAL(min_fast)
MICA_SEVERAL(max_fast)
MICA_SEVERAL(scale_by_rounded)
MICA_SEVERAL(with_exponent)
MICA_SEVERAL(bit_and)
MICA_SEVERAL(bit_or)
#undef MICA_SEVERAL

template <int kCount>
MICA_INLINE Several<kCount> lookup(const float* table, const Several<kCount>& rounded) {
  return each<kCount>([&](int i) __attribute__((always_inline)) { return lookup(table, rounded.v[i]); });
}

template <int kCount>
MICA_INLINE Several<kCount> load_several(const float* p) {
  return each<kCount>([&](int i) __attribute__((always_inline)) { return load(p + i * kLanes); });
}
template <int kCount>
MICA_INLINE void store(float* p, const Several<kCount>& a) {
  MICA_UNROLL for (int i = 0; i < kCount; ++i) store(p + i * kLanes, a.v[i]);
}

// How many of the j-th vector's lanes lie before element n.
MICA_INLINE int width_of(int64_t n, int j) {
  const int64_t left = n - j * kLanes;
  return left >= kLanes ? kLanes : left > 0 ? static_cast<int>(left) : 0;
}

// A vector, or its first lanes at the end of a row.
MICA_INLINE F32 load_some(const float* p, int width) { return width == kLanes ? load(p) : load_partial(p, width); }
MICA_INLINE void store_some(float* p, F32 v, int width) {
  if (width == kLanes)
    store(p, v);
  else
    store_partial(p, v, width);
}

// What the first part of a function leaves to its second: what that needs of x, and s, a distance from a whole number,
// which is still added to kRounder. A loop that begins the next vectors' function before it ends its own has two chains
// at work.
template <class V>
struct Begun {
  V x, s, rounded;
};

}  // namespace mica::MICA_ISA
