// Vector traits of AVX-512 on machines that lack it, for tests (MICA_EMULATE_AVX512): 16 lanes as two vectors of AVX2,
// and what else makes kernels what they are with AVX-512. Every operation gives the bits of simd/avx512.h wherever
// simd/simd.h says what they are. See there for the meaning of each name.
#pragma once

// Of one half, whose names stay in this set's namespace: code that the linker could merge with another set's would not
// be that set's.
#undef MICA_ISA
#define MICA_ISA avx512::halves
#include "simd/avx2.h"
#undef MICA_ISA
#define MICA_ISA avx512

namespace mica::avx512 {

inline constexpr int kLanes = 16;
inline constexpr int kRegisters = 32;
inline constexpr bool kHasFma = true;
inline constexpr bool kHasPermute = true;
using HalfF32 = halves::F32;
using HalfI32 = halves::I32;
struct F32 {
  HalfF32 low, high;
};
struct I32 {
  HalfI32 low, high;
};
struct Mask {
  halves::Mask low, high;
};

MICA_INLINE Mask first_lanes(int n) { return {halves::first_lanes(n), halves::first_lanes(n - 8)}; }

MICA_INLINE F32 load(const float* p) { return {halves::load(p), halves::load(p + 8)}; }
MICA_INLINE I32 load(const int32_t* p) { return {halves::load(p), halves::load(p + 8)}; }
MICA_INLINE F32 load_partial(const float* p, int n) {
  return {halves::load_partial(p, n), halves::load_partial(p + 8, n - 8)};
}
MICA_INLINE I32 load_partial(const int32_t* p, int n) {
  return {halves::load_partial(p, n), halves::load_partial(p + 8, n - 8)};
}
MICA_INLINE void store(float* p, F32 a) { halves::store(p, a.low), halves::store(p + 8, a.high); }
MICA_INLINE void store(int32_t* p, I32 a) { halves::store(p, a.low), halves::store(p + 8, a.high); }
MICA_INLINE void store_partial(float* p, F32 a, int n) {
  halves::store_partial(p, a.low, n), halves::store_partial(p + 8, a.high, n - 8);
}
MICA_INLINE void store_partial(int32_t* p, I32 a, int n) {
  halves::store_partial(p, a.low, n), halves::store_partial(p + 8, a.high, n - 8);
}

MICA_INLINE F32 set1(float x) { return {halves::set1(x), halves::set1(x)}; }
MICA_INLINE I32 set1(int32_t x) { return {halves::set1(x), halves::set1(x)}; }
MICA_INLINE F32 zero() { return {halves::zero(), halves::zero()}; }
MICA_INLINE I32 zero_i32() { return {halves::zero_i32(), halves::zero_i32()}; }
MICA_INLINE I32 iota() { return {halves::iota(), halves::add(halves::iota(), halves::set1(int32_t{8}))}; }

using halves::fma;
using halves::load_half;
using halves::set1_half;
MICA_INLINE HalfF32 lower(F32 a) { return a.low; }
MICA_INLINE HalfF32 upper(F32 a) { return a.high; }
MICA_INLINE F32 join(HalfF32 low, HalfF32 high) { return {low, high}; }

// Operations of lane by lane: those of each half.
#define MICA_OF_ONE(Result, name, Operand) \
  MICA_INLINE Result name(Operand a) { return {halves::name(a.low), halves::name(a.high)}; }
#define MICA_OF_TWO(Result, name, Operand) \
  MICA_INLINE Result name(Operand a, Operand b) { return {halves::name(a.low, b.low), halves::name(a.high, b.high)}; }
#define MICA_OF_THREE(Result, name, First, Operand)                                   \
  MICA_INLINE Result name(First a, Operand b, Operand c) {                            \
    return {halves::name(a.low, b.low, c.low), halves::name(a.high, b.high, c.high)}; \
  }
#define MICA_SHIFT(name)                                      \
  template <int n>                                            \
  MICA_INLINE I32 name(I32 a) {                               \
    return {halves::name<n>(a.low), halves::name<n>(a.high)}; \
  }
MICA_OF_ONE(I32, as_i32, F32)
MICA_OF_ONE(F32, as_f32, I32)
MICA_OF_TWO(F32, add, F32)
MICA_OF_TWO(F32, sub, F32)
MICA_OF_TWO(F32, mul, F32)
MICA_OF_TWO(F32, div, F32)
MICA_OF_THREE(F32, fma, F32, F32)
MICA_OF_THREE(F32, fms, F32, F32)
MICA_OF_THREE(F32, fnma, F32, F32)
MICA_OF_ONE(F32, sqrt, F32)
MICA_OF_ONE(F32, abs, F32)
MICA_OF_ONE(F32, neg, F32)
MICA_OF_TWO(F32, min_fast, F32)
MICA_OF_TWO(F32, max_fast, F32)
MICA_OF_TWO(F32, min_nan, F32)
MICA_OF_TWO(F32, max_nan, F32)
MICA_OF_ONE(F32, floor, F32)
MICA_OF_ONE(F32, ceil, F32)
MICA_OF_ONE(F32, trunc, F32)
MICA_OF_ONE(F32, round_even, F32)
MICA_OF_TWO(Mask, eq, F32)
MICA_OF_TWO(Mask, ne, F32)
MICA_OF_TWO(Mask, lt, F32)
MICA_OF_TWO(Mask, le, F32)
MICA_OF_TWO(Mask, gt, F32)
MICA_OF_TWO(Mask, ge, F32)
MICA_OF_ONE(Mask, is_nan, F32)
MICA_OF_TWO(Mask, eq, I32)
MICA_OF_TWO(Mask, gt, I32)
MICA_OF_TWO(Mask, lt, I32)
MICA_OF_THREE(F32, select, Mask, F32)
MICA_OF_THREE(I32, select, Mask, I32)
MICA_OF_TWO(Mask, mask_and, Mask)
MICA_OF_TWO(Mask, mask_or, Mask)
MICA_OF_ONE(Mask, mask_not, Mask)
MICA_OF_TWO(F32, bit_and, F32)
MICA_OF_TWO(F32, bit_or, F32)
MICA_OF_TWO(F32, bit_xor, F32)
MICA_OF_TWO(F32, bit_andnot, F32)
MICA_OF_TWO(I32, bit_and, I32)
MICA_OF_TWO(I32, bit_or, I32)
MICA_OF_TWO(I32, bit_xor, I32)
MICA_OF_TWO(I32, bit_andnot, I32)
MICA_OF_TWO(I32, add, I32)
MICA_OF_TWO(I32, sub, I32)
MICA_OF_TWO(I32, mul, I32)
MICA_OF_TWO(I32, min, I32)
MICA_OF_TWO(I32, max, I32)
MICA_SHIFT(shift_left)
MICA_SHIFT(shift_right)
MICA_SHIFT(shift_right_sign)
MICA_OF_ONE(I32, to_i32, F32)
MICA_OF_ONE(I32, to_i32_trunc, F32)
MICA_OF_ONE(F32, to_f32, I32)
#undef MICA_OF_ONE
#undef MICA_OF_TWO
#undef MICA_OF_THREE
#undef MICA_SHIFT

MICA_INLINE bool any(Mask m) { return halves::any(m.low) || halves::any(m.high); }
MICA_INLINE bool all(Mask m) { return halves::all(m.low) && halves::all(m.high); }

// In the order of simd/avx512.h: the halves meet first.
MICA_INLINE float reduce_add(F32 a) { return halves::reduce_add(halves::add(a.low, a.high)); }
MICA_INLINE float reduce_max(F32 a) { return halves::reduce_max(halves::max_nan(a.low, a.high)); }
MICA_INLINE float reduce_min(F32 a) { return halves::reduce_min(halves::min_nan(a.low, a.high)); }

// AVX-512 rounds once, also where the result is no normal number: so does a product of doubles that is then narrowed,
// since doubles have room for all powers that matter. NaN is the result of a power that is none.
MICA_INLINE __m128 scale_four(__m128 a, __m128 n) {
  const __m128 bounded = _mm_min_ps(_mm_set1_ps(500.0f), _mm_max_ps(_mm_set1_ps(-500.0f), n));
  const __m256i biased = _mm256_cvtepi32_epi64(_mm_add_epi32(_mm_cvtps_epi32(bounded), _mm_set1_epi32(1023)));
  const __m256d power = _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52));
  return _mm_blendv_ps(_mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtps_pd(a), power)), n, _mm_cmpunord_ps(n, n));
}
MICA_INLINE HalfF32 scale_half(HalfF32 a, HalfF32 n) {
  return _mm256_set_m128(scale_four(_mm256_extractf128_ps(a, 1), _mm256_extractf128_ps(n, 1)),
                         scale_four(_mm256_castps256_ps128(a), _mm256_castps256_ps128(n)));
}
MICA_INLINE F32 scale_by_power(F32 a, F32 n) { return {scale_half(a.low, n.low), scale_half(a.high, n.high)}; }
inline constexpr float kLeastPower = -105.0f;
MICA_INLINE F32 scale_by_rounded(F32 a, F32 rounded) { return scale_by_power(a, sub(rounded, set1(kRounder))); }

MICA_INLINE F32 lookup(const float* table, F32 rounded) {
  return {halves::lookup(table, rounded.low), halves::lookup(table, rounded.high)};
}

// The lower three bits of an index choose in a half, the fourth the half.
MICA_INLINE HalfF32 permute_half(F32 a, HalfI32 index) {
  const HalfF32 of_high = halves::as_f32(halves::shift_left<28>(index));  // blends look at the sign
  return _mm256_blendv_ps(halves::permute(a.low, index), halves::permute(a.high, index), of_high);
}
MICA_INLINE F32 permute(F32 a, I32 index) { return {permute_half(a, index.low), permute_half(a, index.high)}; }
MICA_INLINE F32 gather(const float* p, I32 index) {
  return {halves::gather(p, index.low), halves::gather(p, index.high)};
}

template <int n>
MICA_INLINE F32 exchange(F32 a) {
  if constexpr (n == 8)
    return {a.high, a.low};
  else
    return {halves::exchange<n>(a.low), halves::exchange<n>(a.high)};
}

// Four squares, of which two change places.
MICA_INLINE void transpose(F32 (&r)[16]) {
  HalfF32 square[4][8];
  for (int i = 0; i < 8; ++i) {
    square[0][i] = r[i].low, square[1][i] = r[i].high;
    square[2][i] = r[i + 8].low, square[3][i] = r[i + 8].high;
  }
  for (int s = 0; s < 4; ++s) halves::transpose(square[s]);
  for (int i = 0; i < 8; ++i) {
    r[i] = {square[0][i], square[2][i]};
    r[i + 8] = {square[1][i], square[3][i]};
  }
}

MICA_INLINE I32 load_i8(const int8_t* p) { return {halves::load_i8(p), halves::load_i8(p + 8)}; }
MICA_INLINE I32 load_u8(const uint8_t* p) { return {halves::load_u8(p), halves::load_u8(p + 8)}; }
MICA_INLINE I32 load_i16(const int16_t* p) { return {halves::load_i16(p), halves::load_i16(p + 8)}; }
MICA_INLINE I32 load_u16(const uint16_t* p) { return {halves::load_u16(p), halves::load_u16(p + 8)}; }
MICA_INLINE void store_i8(int8_t* p, I32 a) { halves::store_i8(p, a.low), halves::store_i8(p + 8, a.high); }
MICA_INLINE void store_u8(uint8_t* p, I32 a) { halves::store_u8(p, a.low), halves::store_u8(p + 8, a.high); }
MICA_INLINE void store_u16(uint16_t* p, I32 a) { halves::store_u16(p, a.low), halves::store_u16(p + 8, a.high); }
MICA_INLINE F32 load_f16(const uint16_t* p) { return {halves::load_f16(p), halves::load_f16(p + 8)}; }
MICA_INLINE void store_f16(uint16_t* p, F32 a) { halves::store_f16(p, a.low), halves::store_f16(p + 8, a.high); }
using halves::prefetch;

}  // namespace mica::avx512
