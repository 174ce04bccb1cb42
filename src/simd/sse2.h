// Vector traits on SSE2, the x86-64 baseline: 4 lanes, masks as all-ones lanes. See simd/simd.h for the meaning of each
// name.
#pragma once
#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/simd.h"

namespace mica::MICA_ISA {

inline constexpr int kLanes = 4;
inline constexpr int kRegisters = 16;
inline constexpr bool kHasFma = false;
inline constexpr bool kHasPermute = false;
using F32 = __m128;
using I32 = __m128i;
struct Mask {
  __m128 v;
};

MICA_INLINE I32 iota() { return _mm_setr_epi32(0, 1, 2, 3); }
MICA_INLINE Mask first_lanes(int n) { return {_mm_castsi128_ps(_mm_cmpgt_epi32(_mm_set1_epi32(n), iota()))}; }

MICA_INLINE I32 as_i32(F32 a) { return _mm_castps_si128(a); }
MICA_INLINE F32 as_f32(I32 a) { return _mm_castsi128_ps(a); }

MICA_INLINE F32 load(const float* p) { return _mm_loadu_ps(p); }
MICA_INLINE I32 load(const int32_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
MICA_INLINE void store(float* p, F32 a) { _mm_storeu_ps(p, a); }
MICA_INLINE void store(int32_t* p, I32 a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a); }
MICA_INLINE F32 load_partial(const float* p, int n) {
  if (n >= 4) return load(p);
  const __m128 low = n >= 2 ? _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))) : _mm_setzero_ps();
  if ((n & 1) == 0) return low;
  const __m128 one = _mm_load_ss(p + n - 1);
  return n == 1 ? one : _mm_movelh_ps(low, one);
}
MICA_INLINE I32 load_partial(const int32_t* p, int n) {
  return as_i32(load_partial(reinterpret_cast<const float*>(p), n));
}
MICA_INLINE void store_partial(float* p, F32 a, int n) {
  if (n >= 4) return store(p, a);
  if (n >= 2) _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_castps_si128(a));
  if (n & 1) _mm_store_ss(p + n - 1, n == 1 ? a : _mm_movehl_ps(a, a));
}
MICA_INLINE void store_partial(int32_t* p, I32 a, int n) { store_partial(reinterpret_cast<float*>(p), as_f32(a), n); }

MICA_INLINE F32 set1(float x) { return _mm_set1_ps(x); }
MICA_INLINE I32 set1(int32_t x) { return _mm_set1_epi32(x); }
MICA_INLINE F32 zero() { return _mm_setzero_ps(); }
MICA_INLINE I32 zero_i32() { return _mm_setzero_si128(); }

MICA_INLINE F32 bit_and(F32 a, F32 b) { return _mm_and_ps(a, b); }
MICA_INLINE F32 bit_or(F32 a, F32 b) { return _mm_or_ps(a, b); }
MICA_INLINE F32 bit_xor(F32 a, F32 b) { return _mm_xor_ps(a, b); }
MICA_INLINE F32 bit_andnot(F32 a, F32 b) { return _mm_andnot_ps(a, b); }
MICA_INLINE I32 bit_and(I32 a, I32 b) { return _mm_and_si128(a, b); }
MICA_INLINE I32 bit_or(I32 a, I32 b) { return _mm_or_si128(a, b); }
MICA_INLINE I32 bit_xor(I32 a, I32 b) { return _mm_xor_si128(a, b); }
MICA_INLINE I32 bit_andnot(I32 a, I32 b) { return _mm_andnot_si128(a, b); }
MICA_INLINE F32 select(Mask m, F32 a, F32 b) { return _mm_or_ps(_mm_and_ps(m.v, a), _mm_andnot_ps(m.v, b)); }
MICA_INLINE I32 select(Mask m, I32 a, I32 b) { return as_i32(select(m, as_f32(a), as_f32(b))); }

MICA_INLINE F32 add(F32 a, F32 b) { return _mm_add_ps(a, b); }
MICA_INLINE F32 sub(F32 a, F32 b) { return _mm_sub_ps(a, b); }
MICA_INLINE F32 mul(F32 a, F32 b) { return _mm_mul_ps(a, b); }
MICA_INLINE F32 div(F32 a, F32 b) { return _mm_div_ps(a, b); }
MICA_INLINE F32 fma(F32 a, F32 b, F32 c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
MICA_INLINE F32 fms(F32 a, F32 b, F32 c) { return _mm_sub_ps(_mm_mul_ps(a, b), c); }
MICA_INLINE F32 fnma(F32 a, F32 b, F32 c) { return _mm_sub_ps(c, _mm_mul_ps(a, b)); }
MICA_INLINE F32 sqrt(F32 a) { return _mm_sqrt_ps(a); }
MICA_INLINE F32 abs(F32 a) { return _mm_andnot_ps(set1(-0.0f), a); }
MICA_INLINE F32 neg(F32 a) { return _mm_xor_ps(a, set1(-0.0f)); }
MICA_INLINE F32 min_fast(F32 a, F32 b) { return _mm_min_ps(a, b); }
MICA_INLINE F32 max_fast(F32 a, F32 b) { return _mm_max_ps(a, b); }
// MINPS returns its second operand when one is NaN; only a NaN first operand is left to mend.
MICA_INLINE F32 min_nan(F32 a, F32 b) { return select(Mask{_mm_cmpunord_ps(a, a)}, a, _mm_min_ps(a, b)); }
MICA_INLINE F32 max_nan(F32 a, F32 b) { return select(Mask{_mm_cmpunord_ps(a, a)}, a, _mm_max_ps(a, b)); }

MICA_INLINE Mask eq(F32 a, F32 b) { return {_mm_cmpeq_ps(a, b)}; }
MICA_INLINE Mask ne(F32 a, F32 b) { return {_mm_cmpneq_ps(a, b)}; }
MICA_INLINE Mask lt(F32 a, F32 b) { return {_mm_cmplt_ps(a, b)}; }
MICA_INLINE Mask le(F32 a, F32 b) { return {_mm_cmple_ps(a, b)}; }
MICA_INLINE Mask gt(F32 a, F32 b) { return lt(b, a); }
MICA_INLINE Mask ge(F32 a, F32 b) { return le(b, a); }
MICA_INLINE Mask is_nan(F32 a) { return {_mm_cmpunord_ps(a, a)}; }
MICA_INLINE Mask eq(I32 a, I32 b) { return {as_f32(_mm_cmpeq_epi32(a, b))}; }
MICA_INLINE Mask gt(I32 a, I32 b) { return {as_f32(_mm_cmpgt_epi32(a, b))}; }
MICA_INLINE Mask lt(I32 a, I32 b) { return gt(b, a); }
MICA_INLINE bool any(Mask m) { return _mm_movemask_ps(m.v) != 0; }
MICA_INLINE bool all(Mask m) { return _mm_movemask_ps(m.v) == 0xf; }
MICA_INLINE Mask mask_and(Mask a, Mask b) { return {_mm_and_ps(a.v, b.v)}; }
MICA_INLINE Mask mask_or(Mask a, Mask b) { return {_mm_or_ps(a.v, b.v)}; }
MICA_INLINE Mask mask_not(Mask a) { return {_mm_xor_ps(a.v, as_f32(_mm_set1_epi32(-1)))}; }

MICA_INLINE I32 add(I32 a, I32 b) { return _mm_add_epi32(a, b); }
MICA_INLINE I32 sub(I32 a, I32 b) { return _mm_sub_epi32(a, b); }
// The 32-bit multiply works on even lanes only: odd lanes are shifted down, multiplied, and interleaved again.
MICA_INLINE I32 mul(I32 a, I32 b) {
  const I32 even = _mm_mul_epu32(a, b), odd = _mm_mul_epu32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32));
  return _mm_unpacklo_epi32(_mm_shuffle_epi32(even, 0x08), _mm_shuffle_epi32(odd, 0x08));
}
MICA_INLINE I32 min(I32 a, I32 b) { return select(gt(a, b), b, a); }
MICA_INLINE I32 max(I32 a, I32 b) { return select(gt(a, b), a, b); }
template <int n>
MICA_INLINE I32 shift_left(I32 a) {
  return _mm_slli_epi32(a, n);
}
template <int n>
MICA_INLINE I32 shift_right(I32 a) {
  return _mm_srli_epi32(a, n);
}
template <int n>
MICA_INLINE I32 shift_right_sign(I32 a) {
  return _mm_srai_epi32(a, n);
}
MICA_INLINE I32 to_i32(F32 a) { return _mm_cvtps_epi32(a); }
MICA_INLINE I32 to_i32_trunc(F32 a) { return _mm_cvttps_epi32(a); }
MICA_INLINE F32 to_f32(I32 a) { return _mm_cvtepi32_ps(a); }

MICA_INLINE float reduce_add(F32 a) {
  const __m128 d = _mm_add_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_add_ss(d, _mm_shuffle_ps(d, d, 1)));
}

MICA_INLINE F32 gather(const float* p, I32 index) {
  int32_t i[4];
  store(i, index);
  return _mm_setr_ps(p[i[0]], p[i[1]], p[i[2]], p[i[3]]);
}

MICA_INLINE F32 permute(F32 a, I32 index) {
  float lane[4];
  store(lane, a);
  return gather(lane, index);
}

template <int n>
MICA_INLINE F32 exchange(F32 a) {
  return _mm_shuffle_ps(a, a, n == 1 ? 0xb1 : 0x4e);
}

MICA_INLINE void transpose(F32 (&r)[4]) {
  const F32 a = _mm_unpacklo_ps(r[0], r[1]), b = _mm_unpackhi_ps(r[0], r[1]);
  const F32 c = _mm_unpacklo_ps(r[2], r[3]), d = _mm_unpackhi_ps(r[2], r[3]);
  r[0] = _mm_movelh_ps(a, c);
  r[1] = _mm_movehl_ps(c, a);
  r[2] = _mm_movelh_ps(b, d);
  r[3] = _mm_movehl_ps(d, b);
}

MICA_INLINE I32 load_four_bytes(const void* p) {
  int32_t word;
  __builtin_memcpy(&word, p, 4);
  return _mm_cvtsi32_si128(word);
}
MICA_INLINE void store_four_bytes(void* p, I32 a) {
  const int32_t word = _mm_cvtsi128_si32(a);
  __builtin_memcpy(p, &word, 4);
}
MICA_INLINE I32 load_i8(const int8_t* p) {
  const I32 bytes = load_four_bytes(p), words = _mm_unpacklo_epi8(bytes, bytes);
  return _mm_srai_epi32(_mm_unpacklo_epi16(words, words), 24);
}
MICA_INLINE I32 load_u8(const uint8_t* p) {
  return _mm_unpacklo_epi16(_mm_unpacklo_epi8(load_four_bytes(p), zero_i32()), zero_i32());
}
MICA_INLINE I32 load_i16(const int16_t* p) {
  const I32 words = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm_srai_epi32(_mm_unpacklo_epi16(words, words), 16);
}
MICA_INLINE I32 load_u16(const uint16_t* p) {
  return _mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)), zero_i32());
}
MICA_INLINE void store_i8(int8_t* p, I32 a) {
  const I32 w = _mm_packs_epi32(a, a);
  store_four_bytes(p, _mm_packs_epi16(w, w));
}
MICA_INLINE void store_u8(uint8_t* p, I32 a) {
  const I32 w = _mm_packs_epi32(a, a);
  store_four_bytes(p, _mm_packus_epi16(w, w));
}
// Sign-extending the low half first makes the saturating pack exact.
MICA_INLINE void store_u16(uint16_t* p, I32 a) {
  const I32 low = _mm_srai_epi32(_mm_slli_epi32(a, 16), 16);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi32(low, low));
}
MICA_INLINE void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

}  // namespace mica::MICA_ISA

#include "simd/emulated.h"

#include "simd/composed.h"
