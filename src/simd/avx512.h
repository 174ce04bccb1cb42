// Vector traits on AVX-512 (F, BW, VL, DQ): 16 lanes, masks in mask registers. See simd/simd.h for the meaning of each
// name.
#pragma once
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/simd.h"

namespace mica::MICA_ISA {

inline constexpr int kLanes = 16;
inline constexpr int kRegisters = 32;
inline constexpr bool kHasFma = true;
inline constexpr bool kHasPermute = true;
using F32 = __m512;
using I32 = __m512i;
struct Mask {
  __mmask16 v;
};

MICA_INLINE Mask first_lanes(int n) { return {static_cast<__mmask16>((1u << n) - 1u)}; }

MICA_INLINE F32 load(const float* p) { return _mm512_loadu_ps(p); }
MICA_INLINE I32 load(const int32_t* p) { return _mm512_loadu_si512(p); }
MICA_INLINE F32 load_partial(const float* p, int n) { return _mm512_maskz_loadu_ps(first_lanes(n).v, p); }
MICA_INLINE I32 load_partial(const int32_t* p, int n) { return _mm512_maskz_loadu_epi32(first_lanes(n).v, p); }
MICA_INLINE void store(float* p, F32 a) { _mm512_storeu_ps(p, a); }
MICA_INLINE void store(int32_t* p, I32 a) { _mm512_storeu_si512(p, a); }
MICA_INLINE void store_partial(float* p, F32 a, int n) { _mm512_mask_storeu_ps(p, first_lanes(n).v, a); }
MICA_INLINE void store_partial(int32_t* p, I32 a, int n) { _mm512_mask_storeu_epi32(p, first_lanes(n).v, a); }

MICA_INLINE F32 set1(float x) { return _mm512_set1_ps(x); }
MICA_INLINE I32 set1(int32_t x) { return _mm512_set1_epi32(x); }
MICA_INLINE F32 zero() { return _mm512_setzero_ps(); }
MICA_INLINE I32 zero_i32() { return _mm512_setzero_si512(); }
MICA_INLINE I32 iota() { return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }

MICA_INLINE I32 as_i32(F32 a) { return _mm512_castps_si512(a); }
MICA_INLINE F32 as_f32(I32 a) { return _mm512_castsi512_ps(a); }

MICA_INLINE F32 add(F32 a, F32 b) { return _mm512_add_ps(a, b); }
MICA_INLINE F32 sub(F32 a, F32 b) { return _mm512_sub_ps(a, b); }
MICA_INLINE F32 mul(F32 a, F32 b) { return _mm512_mul_ps(a, b); }
MICA_INLINE F32 div(F32 a, F32 b) { return _mm512_div_ps(a, b); }
MICA_INLINE F32 fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a, b, c); }
MICA_INLINE F32 fms(F32 a, F32 b, F32 c) { return _mm512_fmsub_ps(a, b, c); }
MICA_INLINE F32 fnma(F32 a, F32 b, F32 c) { return _mm512_fnmadd_ps(a, b, c); }
using HalfF32 = __m256;
MICA_INLINE HalfF32 load_half(const float* p) { return _mm256_loadu_ps(p); }
MICA_INLINE HalfF32 set1_half(float x) { return _mm256_set1_ps(x); }
MICA_INLINE HalfF32 fma(HalfF32 a, HalfF32 b, HalfF32 c) { return _mm256_fmadd_ps(a, b, c); }
MICA_INLINE HalfF32 lower(F32 a) { return _mm512_castps512_ps256(a); }
MICA_INLINE HalfF32 upper(F32 a) { return _mm512_extractf32x8_ps(a, 1); }
MICA_INLINE F32 join(HalfF32 low, HalfF32 high) { return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1); }

MICA_INLINE F32 sqrt(F32 a) { return _mm512_sqrt_ps(a); }
MICA_INLINE F32 abs(F32 a) { return _mm512_abs_ps(a); }
MICA_INLINE F32 neg(F32 a) { return _mm512_xor_ps(a, set1(-0.0f)); }
MICA_INLINE F32 min_fast(F32 a, F32 b) { return _mm512_min_ps(a, b); }
MICA_INLINE F32 max_fast(F32 a, F32 b) { return _mm512_max_ps(a, b); }
// MINPS returns its second operand when one is NaN; only a NaN first operand is left to mend.
MICA_INLINE F32 min_nan(F32 a, F32 b) {
  return _mm512_mask_mov_ps(_mm512_min_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}
MICA_INLINE F32 max_nan(F32 a, F32 b) {
  return _mm512_mask_mov_ps(_mm512_max_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}
MICA_INLINE F32 floor(F32 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
MICA_INLINE F32 ceil(F32 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
MICA_INLINE F32 trunc(F32 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
MICA_INLINE F32 round_even(F32 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

MICA_INLINE Mask eq(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)}; }
MICA_INLINE Mask ne(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ)}; }
MICA_INLINE Mask lt(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)}; }
MICA_INLINE Mask le(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)}; }
MICA_INLINE Mask gt(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)}; }
MICA_INLINE Mask ge(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a, b, _CMP_GE_OQ)}; }
MICA_INLINE Mask is_nan(F32 a) { return {_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q)}; }
MICA_INLINE Mask eq(I32 a, I32 b) { return {_mm512_cmpeq_epi32_mask(a, b)}; }
MICA_INLINE Mask gt(I32 a, I32 b) { return {_mm512_cmpgt_epi32_mask(a, b)}; }
MICA_INLINE Mask lt(I32 a, I32 b) { return {_mm512_cmplt_epi32_mask(a, b)}; }
MICA_INLINE F32 select(Mask m, F32 a, F32 b) { return _mm512_mask_blend_ps(m.v, b, a); }
MICA_INLINE I32 select(Mask m, I32 a, I32 b) { return _mm512_mask_blend_epi32(m.v, b, a); }
MICA_INLINE bool any(Mask m) { return m.v != 0; }
MICA_INLINE bool all(Mask m) { return m.v == 0xffff; }
MICA_INLINE Mask mask_and(Mask a, Mask b) { return {static_cast<__mmask16>(a.v & b.v)}; }
MICA_INLINE Mask mask_or(Mask a, Mask b) { return {static_cast<__mmask16>(a.v | b.v)}; }
MICA_INLINE Mask mask_not(Mask a) { return {static_cast<__mmask16>(~a.v)}; }

MICA_INLINE F32 bit_and(F32 a, F32 b) { return _mm512_and_ps(a, b); }
MICA_INLINE F32 bit_or(F32 a, F32 b) { return _mm512_or_ps(a, b); }
MICA_INLINE F32 bit_xor(F32 a, F32 b) { return _mm512_xor_ps(a, b); }
MICA_INLINE F32 bit_andnot(F32 a, F32 b) { return _mm512_andnot_ps(a, b); }
MICA_INLINE I32 bit_and(I32 a, I32 b) { return _mm512_and_si512(a, b); }
MICA_INLINE I32 bit_or(I32 a, I32 b) { return _mm512_or_si512(a, b); }
MICA_INLINE I32 bit_xor(I32 a, I32 b) { return _mm512_xor_si512(a, b); }
MICA_INLINE I32 bit_andnot(I32 a, I32 b) { return _mm512_andnot_si512(a, b); }

MICA_INLINE I32 add(I32 a, I32 b) { return _mm512_add_epi32(a, b); }
MICA_INLINE I32 sub(I32 a, I32 b) { return _mm512_sub_epi32(a, b); }
MICA_INLINE I32 mul(I32 a, I32 b) { return _mm512_mullo_epi32(a, b); }
MICA_INLINE I32 min(I32 a, I32 b) { return _mm512_min_epi32(a, b); }
MICA_INLINE I32 max(I32 a, I32 b) { return _mm512_max_epi32(a, b); }
template <int n>
MICA_INLINE I32 shift_left(I32 a) {
  return _mm512_slli_epi32(a, n);
}
template <int n>
MICA_INLINE I32 shift_right(I32 a) {
  return _mm512_srli_epi32(a, n);
}
template <int n>
MICA_INLINE I32 shift_right_sign(I32 a) {
  return _mm512_srai_epi32(a, n);
}
MICA_INLINE I32 to_i32(F32 a) { return _mm512_cvtps_epi32(a); }
MICA_INLINE I32 to_i32_trunc(F32 a) { return _mm512_cvttps_epi32(a); }
MICA_INLINE F32 to_f32(I32 a) { return _mm512_cvtepi32_ps(a); }

MICA_INLINE float reduce_add(F32 a) {
  const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
  const __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  const __m128 d = _mm_add_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_add_ss(d, _mm_shuffle_ps(d, d, 1)));
}

// Extrema of the lanes: halves meet, NaN propagates.
MICA_INLINE float reduce_max(F32 a) {
  a = max_nan(a, _mm512_shuffle_f32x4(a, a, 0x4e));
  a = max_nan(a, _mm512_shuffle_f32x4(a, a, 0xb1));
  a = max_nan(a, _mm512_permute_ps(a, 0x4e));
  return _mm512_cvtss_f32(max_nan(a, _mm512_permute_ps(a, 0xb1)));
}
MICA_INLINE float reduce_min(F32 a) {
  a = min_nan(a, _mm512_shuffle_f32x4(a, a, 0x4e));
  a = min_nan(a, _mm512_shuffle_f32x4(a, a, 0xb1));
  a = min_nan(a, _mm512_permute_ps(a, 0x4e));
  return _mm512_cvtss_f32(min_nan(a, _mm512_permute_ps(a, 0xb1)));
}

MICA_INLINE F32 scale_by_power(F32 a, F32 n) { return _mm512_scalef_ps(a, n); }
inline constexpr float kLeastPower = -105.0f;
MICA_INLINE F32 scale_by_rounded(F32 a, F32 rounded) { return scale_by_power(a, sub(rounded, set1(kRounder))); }

// The lower three bits of an index choose, since the table stands there twice.
MICA_INLINE F32 lookup(const float* table, F32 rounded) {
  return _mm512_permutexvar_ps(as_i32(rounded), _mm512_broadcast_f32x8(_mm256_loadu_ps(table)));
}

MICA_INLINE F32 permute(F32 a, I32 index) { return _mm512_permutexvar_ps(index, a); }
MICA_INLINE F32 gather(const float* p, I32 index) { return _mm512_i32gather_ps(index, p, 4); }

template <int n>
MICA_INLINE F32 exchange(F32 a) {
  if constexpr (n == 1) return _mm512_permute_ps(a, 0xb1);
  if constexpr (n == 2) return _mm512_permute_ps(a, 0x4e);
  if constexpr (n == 4) return _mm512_shuffle_f32x4(a, a, 0xb1);
  return _mm512_shuffle_f32x4(a, a, 0x4e);
}

MICA_INLINE void transpose(F32 (&r)[16]) {
  F32 t[16];
  MICA_UNROLL for (int i = 0; i < 16; i += 4) {
    const F32 a = _mm512_unpacklo_ps(r[i], r[i + 1]), b = _mm512_unpackhi_ps(r[i], r[i + 1]);
    const F32 c = _mm512_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);
    t[i] = _mm512_shuffle_ps(a, c, 0x44);
    t[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
    t[i + 2] = _mm512_shuffle_ps(b, d, 0x44);
    t[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
  }
  MICA_UNROLL for (int i = 0; i < 4; ++i) {
    const F32 a = _mm512_shuffle_f32x4(t[i], t[i + 4], 0x88), b = _mm512_shuffle_f32x4(t[i], t[i + 4], 0xdd);
    const F32 c = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0x88), d = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0xdd);
    r[i] = _mm512_shuffle_f32x4(a, c, 0x88);
    r[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
    r[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
    r[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
  }
}

MICA_INLINE I32 load_i8(const int8_t* p) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
MICA_INLINE I32 load_u8(const uint8_t* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
MICA_INLINE I32 load_i16(const int16_t* p) {
  return _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
MICA_INLINE I32 load_u16(const uint16_t* p) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
MICA_INLINE void store_i8(int8_t* p, I32 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(a));
}
MICA_INLINE void store_u8(uint8_t* p, I32 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtusepi32_epi8(_mm512_max_epi32(a, zero_i32())));
}
MICA_INLINE void store_u16(uint16_t* p, I32 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(a));
}

MICA_INLINE F32 load_f16(const uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
MICA_INLINE void store_f16(uint16_t* p, F32 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
MICA_INLINE void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

}  // namespace mica::MICA_ISA
