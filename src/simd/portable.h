// Vector traits in the compiler's generic vectors, for processors without a header of their own: 4 lanes, masks as
// all-ones lanes. See simd/simd.h for the meaning of each name.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "simd/simd.h"

namespace mica::MICA_ISA {

inline constexpr int kLanes = 4;
inline constexpr int kRegisters = 16;
inline constexpr bool kHasFma = false;
inline constexpr bool kHasPermute = false;
typedef float F32 __attribute__((vector_size(16)));
typedef int32_t I32 __attribute__((vector_size(16)));
typedef uint32_t U32 __attribute__((vector_size(16)));
struct Mask {
  I32 v;
};

MICA_INLINE F32 set1(float x) { return F32{x, x, x, x}; }
MICA_INLINE I32 set1(int32_t x) { return I32{x, x, x, x}; }
MICA_INLINE F32 zero() { return F32{}; }
MICA_INLINE I32 zero_i32() { return I32{}; }
MICA_INLINE I32 iota() { return I32{0, 1, 2, 3}; }
MICA_INLINE Mask first_lanes(int n) { return {iota() < set1(n)}; }

MICA_INLINE I32 as_i32(F32 a) { return reinterpret_cast<I32>(a); }
MICA_INLINE F32 as_f32(I32 a) { return reinterpret_cast<F32>(a); }

MICA_INLINE F32 load(const float* p) {
  F32 a;
  __builtin_memcpy(&a, p, sizeof a);
  return a;
}
MICA_INLINE I32 load(const int32_t* p) {
  I32 a;
  __builtin_memcpy(&a, p, sizeof a);
  return a;
}
MICA_INLINE void store(float* p, F32 a) { __builtin_memcpy(p, &a, sizeof a); }
MICA_INLINE void store(int32_t* p, I32 a) { __builtin_memcpy(p, &a, sizeof a); }
MICA_INLINE F32 load_partial(const float* p, int n) {
  return F32{n > 0 ? p[0] : 0.0f, n > 1 ? p[1] : 0.0f, n > 2 ? p[2] : 0.0f, n > 3 ? p[3] : 0.0f};
}
MICA_INLINE I32 load_partial(const int32_t* p, int n) {
  return I32{n > 0 ? p[0] : 0, n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0};
}
MICA_INLINE void store_partial(float* p, F32 a, int n) {
  for (int i = 0; i < n; ++i) p[i] = a[i];
}
MICA_INLINE void store_partial(int32_t* p, I32 a, int n) {
  for (int i = 0; i < n; ++i) p[i] = a[i];
}

MICA_INLINE I32 bit_and(I32 a, I32 b) { return a & b; }
MICA_INLINE I32 bit_or(I32 a, I32 b) { return a | b; }
MICA_INLINE I32 bit_xor(I32 a, I32 b) { return a ^ b; }
MICA_INLINE I32 bit_andnot(I32 a, I32 b) { return ~a & b; }
MICA_INLINE F32 bit_and(F32 a, F32 b) { return as_f32(as_i32(a) & as_i32(b)); }
MICA_INLINE F32 bit_or(F32 a, F32 b) { return as_f32(as_i32(a) | as_i32(b)); }
MICA_INLINE F32 bit_xor(F32 a, F32 b) { return as_f32(as_i32(a) ^ as_i32(b)); }
MICA_INLINE F32 bit_andnot(F32 a, F32 b) { return as_f32(~as_i32(a) & as_i32(b)); }
MICA_INLINE I32 select(Mask m, I32 a, I32 b) { return (m.v & a) | (~m.v & b); }
MICA_INLINE F32 select(Mask m, F32 a, F32 b) { return as_f32(select(m, as_i32(a), as_i32(b))); }

MICA_INLINE Mask eq(F32 a, F32 b) { return {a == b}; }
MICA_INLINE Mask ne(F32 a, F32 b) { return {a != b}; }
MICA_INLINE Mask lt(F32 a, F32 b) { return {a < b}; }
MICA_INLINE Mask le(F32 a, F32 b) { return {a <= b}; }
MICA_INLINE Mask gt(F32 a, F32 b) { return {a > b}; }
MICA_INLINE Mask ge(F32 a, F32 b) { return {a >= b}; }
MICA_INLINE Mask is_nan(F32 a) { return {a != a}; }
MICA_INLINE Mask eq(I32 a, I32 b) { return {a == b}; }
MICA_INLINE Mask gt(I32 a, I32 b) { return {a > b}; }
MICA_INLINE Mask lt(I32 a, I32 b) { return {a < b}; }
MICA_INLINE bool any(Mask m) { return (m.v[0] | m.v[1] | m.v[2] | m.v[3]) != 0; }
MICA_INLINE bool all(Mask m) { return (m.v[0] & m.v[1] & m.v[2] & m.v[3]) != 0; }
MICA_INLINE Mask mask_and(Mask a, Mask b) { return {a.v & b.v}; }
MICA_INLINE Mask mask_or(Mask a, Mask b) { return {a.v | b.v}; }
MICA_INLINE Mask mask_not(Mask a) { return {~a.v}; }

MICA_INLINE F32 add(F32 a, F32 b) { return a + b; }
MICA_INLINE F32 sub(F32 a, F32 b) { return a - b; }
MICA_INLINE F32 mul(F32 a, F32 b) { return a * b; }
MICA_INLINE F32 div(F32 a, F32 b) { return a / b; }
MICA_INLINE F32 fma(F32 a, F32 b, F32 c) { return a * b + c; }
MICA_INLINE F32 fms(F32 a, F32 b, F32 c) { return a * b - c; }
MICA_INLINE F32 fnma(F32 a, F32 b, F32 c) { return c - a * b; }
MICA_INLINE F32 sqrt(F32 a) {
  return F32{__builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]), __builtin_sqrtf(a[3])};
}
MICA_INLINE F32 abs(F32 a) { return bit_andnot(set1(-0.0f), a); }
MICA_INLINE F32 neg(F32 a) { return bit_xor(a, set1(-0.0f)); }
MICA_INLINE F32 min_fast(F32 a, F32 b) { return select(lt(a, b), a, b); }
MICA_INLINE F32 max_fast(F32 a, F32 b) { return select(gt(a, b), a, b); }
MICA_INLINE F32 min_nan(F32 a, F32 b) { return select(mask_or(lt(a, b), is_nan(a)), a, b); }
MICA_INLINE F32 max_nan(F32 a, F32 b) { return select(mask_or(gt(a, b), is_nan(a)), a, b); }

MICA_INLINE I32 add(I32 a, I32 b) { return reinterpret_cast<I32>(reinterpret_cast<U32>(a) + reinterpret_cast<U32>(b)); }
MICA_INLINE I32 sub(I32 a, I32 b) { return reinterpret_cast<I32>(reinterpret_cast<U32>(a) - reinterpret_cast<U32>(b)); }
MICA_INLINE I32 mul(I32 a, I32 b) { return reinterpret_cast<I32>(reinterpret_cast<U32>(a) * reinterpret_cast<U32>(b)); }
MICA_INLINE I32 min(I32 a, I32 b) { return select(gt(a, b), b, a); }
MICA_INLINE I32 max(I32 a, I32 b) { return select(gt(a, b), a, b); }
template <int n>
MICA_INLINE I32 shift_left(I32 a) {
  return reinterpret_cast<I32>(reinterpret_cast<U32>(a) << n);
}
template <int n>
MICA_INLINE I32 shift_right(I32 a) {
  return reinterpret_cast<I32>(reinterpret_cast<U32>(a) >> n);
}
template <int n>
MICA_INLINE I32 shift_right_sign(I32 a) {
  return a >> n;
}

// A conversion that C++ leaves undefined (NaN, out of range) gives the lowest integer.
MICA_INLINE int32_t to_int(float x) { return x >= -0x1p31f && x < 0x1p31f ? static_cast<int32_t>(x) : INT32_MIN; }
MICA_INLINE I32 to_i32_trunc(F32 a) { return I32{to_int(a[0]), to_int(a[1]), to_int(a[2]), to_int(a[3])}; }
MICA_INLINE F32 to_f32(I32 a) {
  return F32{static_cast<float>(a[0]), static_cast<float>(a[1]), static_cast<float>(a[2]), static_cast<float>(a[3])};
}

MICA_INLINE float reduce_add(F32 a) { return (a[0] + a[2]) + (a[1] + a[3]); }

MICA_INLINE F32 gather(const float* p, I32 i) { return F32{p[i[0]], p[i[1]], p[i[2]], p[i[3]]}; }

MICA_INLINE F32 permute(F32 a, I32 i) { return F32{a[i[0]], a[i[1]], a[i[2]], a[i[3]]}; }

template <int n>
MICA_INLINE F32 exchange(F32 a) {
  return F32{a[n], a[1 ^ n], a[2 ^ n], a[3 ^ n]};
}

MICA_INLINE void transpose(F32 (&r)[4]) {
  const F32 a = r[0], b = r[1], c = r[2], d = r[3];
  MICA_UNROLL for (int i = 0; i < 4; ++i) r[i] = F32{a[i], b[i], c[i], d[i]};
}

MICA_INLINE I32 load_i8(const int8_t* p) { return I32{p[0], p[1], p[2], p[3]}; }
MICA_INLINE I32 load_u8(const uint8_t* p) { return I32{p[0], p[1], p[2], p[3]}; }
MICA_INLINE I32 load_i16(const int16_t* p) { return I32{p[0], p[1], p[2], p[3]}; }
MICA_INLINE I32 load_u16(const uint16_t* p) { return I32{p[0], p[1], p[2], p[3]}; }
MICA_INLINE void store_i8(int8_t* p, I32 a) {
  const I32 b = min(max(a, set1(-128)), set1(127));
  MICA_UNROLL for (int i = 0; i < 4; ++i) p[i] = static_cast<int8_t>(b[i]);
}
MICA_INLINE void store_u8(uint8_t* p, I32 a) {
  const I32 b = min(max(a, set1(0)), set1(255));
  MICA_UNROLL for (int i = 0; i < 4; ++i) p[i] = static_cast<uint8_t>(b[i]);
}
MICA_INLINE void store_u16(uint16_t* p, I32 a) {
  MICA_UNROLL for (int i = 0; i < 4; ++i) p[i] = static_cast<uint16_t>(a[i]);
}
MICA_INLINE void prefetch(const void* p) { __builtin_prefetch(p); }

}  // namespace mica::MICA_ISA

#include "simd/emulated.h"

namespace mica::MICA_ISA {
MICA_INLINE I32 to_i32(F32 a) { return to_i32_trunc(round_even(a)); }
}  // namespace mica::MICA_ISA

#include "simd/composed.h"
