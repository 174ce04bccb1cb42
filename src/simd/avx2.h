// Vector traits on AVX2 with FMA and F16C: 8 lanes, masks as all-ones lanes. See simd/simd.h for the meaning of each
// name.
#pragma once
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/simd.h"

namespace mica::MICA_ISA {

inline constexpr int kLanes = 8;
inline constexpr int kRegisters = 16;
inline constexpr bool kHasFma = true;
inline constexpr bool kHasPermute = true;
using F32 = __m256;
using I32 = __m256i;
struct Mask {
  __m256 v;
};

MICA_INLINE I32 iota() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
MICA_INLINE Mask first_lanes(int n) { return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(n), iota()))}; }

MICA_INLINE I32 as_i32(F32 a) { return _mm256_castps_si256(a); }
MICA_INLINE F32 as_f32(I32 a) { return _mm256_castsi256_ps(a); }

MICA_INLINE F32 load(const float* p) { return _mm256_loadu_ps(p); }
MICA_INLINE I32 load(const int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
MICA_INLINE F32 load_partial(const float* p, int n) { return _mm256_maskload_ps(p, as_i32(first_lanes(n).v)); }
MICA_INLINE I32 load_partial(const int32_t* p, int n) { return _mm256_maskload_epi32(p, as_i32(first_lanes(n).v)); }
MICA_INLINE void store(float* p, F32 a) { _mm256_storeu_ps(p, a); }
MICA_INLINE void store(int32_t* p, I32 a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a); }
MICA_INLINE void store_partial(float* p, F32 a, int n) { _mm256_maskstore_ps(p, as_i32(first_lanes(n).v), a); }
MICA_INLINE void store_partial(int32_t* p, I32 a, int n) { _mm256_maskstore_epi32(p, as_i32(first_lanes(n).v), a); }

MICA_INLINE F32 set1(float x) { return _mm256_set1_ps(x); }
MICA_INLINE I32 set1(int32_t x) { return _mm256_set1_epi32(x); }
MICA_INLINE F32 zero() { return _mm256_setzero_ps(); }
MICA_INLINE I32 zero_i32() { return _mm256_setzero_si256(); }

MICA_INLINE F32 add(F32 a, F32 b) { return _mm256_add_ps(a, b); }
MICA_INLINE F32 sub(F32 a, F32 b) { return _mm256_sub_ps(a, b); }
MICA_INLINE F32 mul(F32 a, F32 b) { return _mm256_mul_ps(a, b); }
MICA_INLINE F32 div(F32 a, F32 b) { return _mm256_div_ps(a, b); }
MICA_INLINE F32 fma(F32 a, F32 b, F32 c) { return _mm256_fmadd_ps(a, b, c); }
MICA_INLINE F32 fms(F32 a, F32 b, F32 c) { return _mm256_fmsub_ps(a, b, c); }
MICA_INLINE F32 fnma(F32 a, F32 b, F32 c) { return _mm256_fnmadd_ps(a, b, c); }
MICA_INLINE F32 sqrt(F32 a) { return _mm256_sqrt_ps(a); }
MICA_INLINE F32 abs(F32 a) { return _mm256_andnot_ps(set1(-0.0f), a); }
MICA_INLINE F32 neg(F32 a) { return _mm256_xor_ps(a, set1(-0.0f)); }
MICA_INLINE F32 min_fast(F32 a, F32 b) { return _mm256_min_ps(a, b); }
MICA_INLINE F32 max_fast(F32 a, F32 b) { return _mm256_max_ps(a, b); }
// MINPS returns its second operand when one is NaN; only a NaN first operand is left to mend.
MICA_INLINE F32 min_nan(F32 a, F32 b) {
  return _mm256_blendv_ps(_mm256_min_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
MICA_INLINE F32 max_nan(F32 a, F32 b) {
  return _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
MICA_INLINE F32 floor(F32 a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
MICA_INLINE F32 ceil(F32 a) { return _mm256_round_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
MICA_INLINE F32 trunc(F32 a) { return _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
MICA_INLINE F32 round_even(F32 a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

MICA_INLINE Mask eq(F32 a, F32 b) { return {_mm256_cmp_ps(a, b, _CMP_EQ_OQ)}; }
MICA_INLINE Mask ne(F32 a, F32 b) { return {_mm256_cmp_ps(a, b, _CMP_NEQ_UQ)}; }
MICA_INLINE Mask lt(F32 a, F32 b) { return {_mm256_cmp_ps(a, b, _CMP_LT_OQ)}; }
MICA_INLINE Mask le(F32 a, F32 b) { return {_mm256_cmp_ps(a, b, _CMP_LE_OQ)}; }
MICA_INLINE Mask gt(F32 a, F32 b) { return {_mm256_cmp_ps(a, b, _CMP_GT_OQ)}; }
MICA_INLINE Mask ge(F32 a, F32 b) { return {_mm256_cmp_ps(a, b, _CMP_GE_OQ)}; }
MICA_INLINE Mask is_nan(F32 a) { return {_mm256_cmp_ps(a, a, _CMP_UNORD_Q)}; }
MICA_INLINE Mask eq(I32 a, I32 b) { return {as_f32(_mm256_cmpeq_epi32(a, b))}; }
MICA_INLINE Mask gt(I32 a, I32 b) { return {as_f32(_mm256_cmpgt_epi32(a, b))}; }
MICA_INLINE Mask lt(I32 a, I32 b) { return gt(b, a); }
MICA_INLINE F32 select(Mask m, F32 a, F32 b) { return _mm256_blendv_ps(b, a, m.v); }
MICA_INLINE I32 select(Mask m, I32 a, I32 b) { return _mm256_blendv_epi8(b, a, as_i32(m.v)); }
MICA_INLINE bool any(Mask m) { return _mm256_movemask_ps(m.v) != 0; }
MICA_INLINE bool all(Mask m) { return _mm256_movemask_ps(m.v) == 0xff; }
MICA_INLINE Mask mask_and(Mask a, Mask b) { return {_mm256_and_ps(a.v, b.v)}; }
MICA_INLINE Mask mask_or(Mask a, Mask b) { return {_mm256_or_ps(a.v, b.v)}; }
MICA_INLINE Mask mask_not(Mask a) { return {_mm256_xor_ps(a.v, as_f32(_mm256_set1_epi32(-1)))}; }

MICA_INLINE F32 bit_and(F32 a, F32 b) { return _mm256_and_ps(a, b); }
MICA_INLINE F32 bit_or(F32 a, F32 b) { return _mm256_or_ps(a, b); }
MICA_INLINE F32 bit_xor(F32 a, F32 b) { return _mm256_xor_ps(a, b); }
MICA_INLINE F32 bit_andnot(F32 a, F32 b) { return _mm256_andnot_ps(a, b); }
MICA_INLINE I32 bit_and(I32 a, I32 b) { return _mm256_and_si256(a, b); }
MICA_INLINE I32 bit_or(I32 a, I32 b) { return _mm256_or_si256(a, b); }
MICA_INLINE I32 bit_xor(I32 a, I32 b) { return _mm256_xor_si256(a, b); }
MICA_INLINE I32 bit_andnot(I32 a, I32 b) { return _mm256_andnot_si256(a, b); }

MICA_INLINE I32 add(I32 a, I32 b) { return _mm256_add_epi32(a, b); }
MICA_INLINE I32 sub(I32 a, I32 b) { return _mm256_sub_epi32(a, b); }
MICA_INLINE I32 mul(I32 a, I32 b) { return _mm256_mullo_epi32(a, b); }
MICA_INLINE I32 min(I32 a, I32 b) { return _mm256_min_epi32(a, b); }
MICA_INLINE I32 max(I32 a, I32 b) { return _mm256_max_epi32(a, b); }
template <int n>
MICA_INLINE I32 shift_left(I32 a) {
  return _mm256_slli_epi32(a, n);
}
template <int n>
MICA_INLINE I32 shift_right(I32 a) {
  return _mm256_srli_epi32(a, n);
}
template <int n>
MICA_INLINE I32 shift_right_sign(I32 a) {
  return _mm256_srai_epi32(a, n);
}
MICA_INLINE I32 to_i32(F32 a) { return _mm256_cvtps_epi32(a); }
MICA_INLINE I32 to_i32_trunc(F32 a) { return _mm256_cvttps_epi32(a); }
MICA_INLINE F32 to_f32(I32 a) { return _mm256_cvtepi32_ps(a); }

MICA_INLINE float reduce_add(F32 a) {
  const __m128 q = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 d = _mm_add_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_add_ss(d, _mm_shuffle_ps(d, d, 1)));
}

MICA_INLINE F32 lookup(const float* table, F32 rounded) {
  return _mm256_permutevar8x32_ps(load(table), as_i32(rounded));
}

MICA_INLINE F32 permute(F32 a, I32 index) { return _mm256_permutevar8x32_ps(a, index); }
MICA_INLINE F32 gather(const float* p, I32 index) { return _mm256_i32gather_ps(p, index, 4); }

template <int n>
MICA_INLINE F32 exchange(F32 a) {
  if constexpr (n == 1) return _mm256_permute_ps(a, 0xb1);
  if constexpr (n == 2) return _mm256_permute_ps(a, 0x4e);
  return _mm256_permute2f128_ps(a, a, 1);
}

MICA_INLINE void transpose(F32 (&r)[8]) {
  F32 t[8];
  MICA_UNROLL for (int i = 0; i < 8; i += 4) {
    const F32 a = _mm256_unpacklo_ps(r[i], r[i + 1]), b = _mm256_unpackhi_ps(r[i], r[i + 1]);
    const F32 c = _mm256_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
    t[i] = _mm256_shuffle_ps(a, c, 0x44);
    t[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
    t[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
    t[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
  }
  MICA_UNROLL for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
  }
}

MICA_INLINE I32 load_i8(const int8_t* p) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
MICA_INLINE I32 load_u8(const uint8_t* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
MICA_INLINE I32 load_i16(const int16_t* p) {
  return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
MICA_INLINE I32 load_u16(const uint16_t* p) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
MICA_INLINE void store_i8(int8_t* p, I32 a) {
  const __m128i w = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(w, w));
}
MICA_INLINE void store_u8(uint8_t* p, I32 a) {
  const __m128i w = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(w, w));
}
MICA_INLINE void store_u16(uint16_t* p, I32 a) {
  const I32 low = _mm256_and_si256(a, set1(0xffff));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
}

MICA_INLINE F32 load_f16(const uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
MICA_INLINE void store_f16(uint16_t* p, F32 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
MICA_INLINE void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

}  // namespace mica::MICA_ISA

#include "simd/composed.h"
