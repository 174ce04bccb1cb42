// Vector traits on AArch64 NEON: 4 lanes, masks as all-ones lanes. See simd/simd.h for the meaning of each name.
#pragma once
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/simd.h"

namespace mica::MICA_ISA {

inline constexpr int kLanes = 4;
inline constexpr int kRegisters = 32;
inline constexpr bool kHasFma = true;
inline constexpr bool kHasPermute = true;
using F32 = float32x4_t;
using I32 = int32x4_t;
struct Mask {
  uint32x4_t v;
};

MICA_INLINE F32 set1(float x) { return vdupq_n_f32(x); }
MICA_INLINE I32 set1(int32_t x) { return vdupq_n_s32(x); }
MICA_INLINE F32 zero() { return vdupq_n_f32(0.0f); }
MICA_INLINE I32 zero_i32() { return vdupq_n_s32(0); }
MICA_INLINE I32 iota() {
  const int32_t lane[4] = {0, 1, 2, 3};
  return vld1q_s32(lane);
}
MICA_INLINE Mask first_lanes(int n) { return {vcltq_s32(iota(), set1(n))}; }

MICA_INLINE I32 as_i32(F32 a) { return vreinterpretq_s32_f32(a); }
MICA_INLINE F32 as_f32(I32 a) { return vreinterpretq_f32_s32(a); }
MICA_INLINE uint32x4_t as_u32(I32 a) { return vreinterpretq_u32_s32(a); }
MICA_INLINE I32 from_u32(uint32x4_t a) { return vreinterpretq_s32_u32(a); }

MICA_INLINE F32 load(const float* p) { return vld1q_f32(p); }
MICA_INLINE I32 load(const int32_t* p) { return vld1q_s32(p); }
MICA_INLINE void store(float* p, F32 a) { vst1q_f32(p, a); }
MICA_INLINE void store(int32_t* p, I32 a) { vst1q_s32(p, a); }
MICA_INLINE F32 load_partial(const float* p, int n) {
  if (n >= 4) return load(p);
  F32 a = zero();
  if (n > 0) a = vld1q_lane_f32(p, a, 0);
  if (n > 1) a = vld1q_lane_f32(p + 1, a, 1);
  if (n > 2) a = vld1q_lane_f32(p + 2, a, 2);
  return a;
}
MICA_INLINE I32 load_partial(const int32_t* p, int n) {
  if (n >= 4) return load(p);
  I32 a = zero_i32();
  if (n > 0) a = vld1q_lane_s32(p, a, 0);
  if (n > 1) a = vld1q_lane_s32(p + 1, a, 1);
  if (n > 2) a = vld1q_lane_s32(p + 2, a, 2);
  return a;
}
MICA_INLINE void store_partial(float* p, F32 a, int n) {
  if (n >= 4) return store(p, a);
  if (n > 0) vst1q_lane_f32(p, a, 0);
  if (n > 1) vst1q_lane_f32(p + 1, a, 1);
  if (n > 2) vst1q_lane_f32(p + 2, a, 2);
}
MICA_INLINE void store_partial(int32_t* p, I32 a, int n) {
  if (n >= 4) return store(p, a);
  if (n > 0) vst1q_lane_s32(p, a, 0);
  if (n > 1) vst1q_lane_s32(p + 1, a, 1);
  if (n > 2) vst1q_lane_s32(p + 2, a, 2);
}

MICA_INLINE F32 add(F32 a, F32 b) { return vaddq_f32(a, b); }
MICA_INLINE F32 sub(F32 a, F32 b) { return vsubq_f32(a, b); }
MICA_INLINE F32 mul(F32 a, F32 b) { return vmulq_f32(a, b); }
MICA_INLINE F32 div(F32 a, F32 b) { return vdivq_f32(a, b); }
MICA_INLINE F32 fma(F32 a, F32 b, F32 c) { return vfmaq_f32(c, a, b); }
MICA_INLINE F32 fms(F32 a, F32 b, F32 c) { return vfmaq_f32(vnegq_f32(c), a, b); }
MICA_INLINE F32 fnma(F32 a, F32 b, F32 c) { return vfmsq_f32(c, a, b); }
MICA_INLINE F32 sqrt(F32 a) { return vsqrtq_f32(a); }
MICA_INLINE F32 abs(F32 a) { return vabsq_f32(a); }
MICA_INLINE F32 neg(F32 a) { return vnegq_f32(a); }
MICA_INLINE F32 min_fast(F32 a, F32 b) { return vminq_f32(a, b); }
MICA_INLINE F32 max_fast(F32 a, F32 b) { return vmaxq_f32(a, b); }
MICA_INLINE F32 min_nan(F32 a, F32 b) { return vminq_f32(a, b); }
MICA_INLINE F32 max_nan(F32 a, F32 b) { return vmaxq_f32(a, b); }
MICA_INLINE F32 floor(F32 a) { return vrndmq_f32(a); }
MICA_INLINE F32 ceil(F32 a) { return vrndpq_f32(a); }
MICA_INLINE F32 trunc(F32 a) { return vrndq_f32(a); }
MICA_INLINE F32 round_even(F32 a) { return vrndnq_f32(a); }

MICA_INLINE Mask mask_and(Mask a, Mask b) { return {vandq_u32(a.v, b.v)}; }
MICA_INLINE Mask mask_or(Mask a, Mask b) { return {vorrq_u32(a.v, b.v)}; }
MICA_INLINE Mask mask_not(Mask a) { return {vmvnq_u32(a.v)}; }
MICA_INLINE Mask eq(F32 a, F32 b) { return {vceqq_f32(a, b)}; }
MICA_INLINE Mask ne(F32 a, F32 b) { return mask_not(eq(a, b)); }
MICA_INLINE Mask lt(F32 a, F32 b) { return {vcltq_f32(a, b)}; }
MICA_INLINE Mask le(F32 a, F32 b) { return {vcleq_f32(a, b)}; }
MICA_INLINE Mask gt(F32 a, F32 b) { return {vcgtq_f32(a, b)}; }
MICA_INLINE Mask ge(F32 a, F32 b) { return {vcgeq_f32(a, b)}; }
MICA_INLINE Mask is_nan(F32 a) { return mask_not(eq(a, a)); }
MICA_INLINE Mask eq(I32 a, I32 b) { return {vceqq_s32(a, b)}; }
MICA_INLINE Mask gt(I32 a, I32 b) { return {vcgtq_s32(a, b)}; }
MICA_INLINE Mask lt(I32 a, I32 b) { return {vcltq_s32(a, b)}; }
MICA_INLINE F32 select(Mask m, F32 a, F32 b) { return vbslq_f32(m.v, a, b); }
MICA_INLINE I32 select(Mask m, I32 a, I32 b) { return vbslq_s32(m.v, a, b); }
MICA_INLINE bool any(Mask m) { return vmaxvq_u32(m.v) != 0; }
MICA_INLINE bool all(Mask m) { return vminvq_u32(m.v) != 0; }

MICA_INLINE I32 bit_and(I32 a, I32 b) { return vandq_s32(a, b); }
MICA_INLINE I32 bit_or(I32 a, I32 b) { return vorrq_s32(a, b); }
MICA_INLINE I32 bit_xor(I32 a, I32 b) { return veorq_s32(a, b); }
MICA_INLINE I32 bit_andnot(I32 a, I32 b) { return vbicq_s32(b, a); }
MICA_INLINE F32 bit_and(F32 a, F32 b) { return as_f32(bit_and(as_i32(a), as_i32(b))); }
MICA_INLINE F32 bit_or(F32 a, F32 b) { return as_f32(bit_or(as_i32(a), as_i32(b))); }
MICA_INLINE F32 bit_xor(F32 a, F32 b) { return as_f32(bit_xor(as_i32(a), as_i32(b))); }
MICA_INLINE F32 bit_andnot(F32 a, F32 b) { return as_f32(bit_andnot(as_i32(a), as_i32(b))); }

MICA_INLINE I32 add(I32 a, I32 b) { return vaddq_s32(a, b); }
MICA_INLINE I32 sub(I32 a, I32 b) { return vsubq_s32(a, b); }
MICA_INLINE I32 mul(I32 a, I32 b) { return vmulq_s32(a, b); }
MICA_INLINE I32 min(I32 a, I32 b) { return vminq_s32(a, b); }
MICA_INLINE I32 max(I32 a, I32 b) { return vmaxq_s32(a, b); }
template <int n>
MICA_INLINE I32 shift_left(I32 a) {
  return vshlq_n_s32(a, n);
}
template <int n>
MICA_INLINE I32 shift_right(I32 a) {
  return from_u32(vshrq_n_u32(as_u32(a), n));
}
template <int n>
MICA_INLINE I32 shift_right_sign(I32 a) {
  return vshrq_n_s32(a, n);
}
MICA_INLINE I32 to_i32(F32 a) { return vcvtnq_s32_f32(a); }
MICA_INLINE I32 to_i32_trunc(F32 a) { return vcvtq_s32_f32(a); }
MICA_INLINE F32 to_f32(I32 a) { return vcvtq_f32_s32(a); }

MICA_INLINE float reduce_add(F32 a) {
  const float32x2_t d = vadd_f32(vget_low_f32(a), vget_high_f32(a));
  return vget_lane_f32(d, 0) + vget_lane_f32(d, 1);
}

// Bytes 4n to 4n + 3 of the table; beyond its 32, which NaN may ask for, zeros.
MICA_INLINE F32 lookup(const float* table, F32 rounded) {
  const uint8x16x2_t bytes = {{vreinterpretq_u8_f32(load(table)), vreinterpretq_u8_f32(load(table + 4))}};
  const I32 first = mul(bit_and(as_i32(rounded), set1(7)), set1(0x04040404));
  const I32 index = add(first, set1(0x03020100));
  return vreinterpretq_f32_u8(vqtbl2q_u8(bytes, vreinterpretq_u8_s32(index)));
}

MICA_INLINE F32 permute(F32 a, I32 index) {
  const I32 bytes = add(mul(index, set1(0x04040404)), set1(0x03020100));
  return vreinterpretq_f32_u8(vqtbl1q_u8(vreinterpretq_u8_f32(a), vreinterpretq_u8_s32(bytes)));
}
MICA_INLINE F32 gather(const float* p, I32 index) {
  int32_t i[4];
  store(i, index);
  const float lane[4] = {p[i[0]], p[i[1]], p[i[2]], p[i[3]]};
  return load(lane);
}

template <int n>
MICA_INLINE F32 exchange(F32 a) {
  return n == 1 ? vrev64q_f32(a) : vextq_f32(a, a, 2);
}

MICA_INLINE void transpose(F32 (&r)[4]) {
  const float32x4x2_t a = vtrnq_f32(r[0], r[1]), b = vtrnq_f32(r[2], r[3]);
  r[0] = vcombine_f32(vget_low_f32(a.val[0]), vget_low_f32(b.val[0]));
  r[1] = vcombine_f32(vget_low_f32(a.val[1]), vget_low_f32(b.val[1]));
  r[2] = vcombine_f32(vget_high_f32(a.val[0]), vget_high_f32(b.val[0]));
  r[3] = vcombine_f32(vget_high_f32(a.val[1]), vget_high_f32(b.val[1]));
}

MICA_INLINE uint32x2_t load_four_bytes(const void* p) {
  uint32_t word;
  __builtin_memcpy(&word, p, 4);
  return vdup_n_u32(word);
}
MICA_INLINE void store_four_bytes(void* p, uint32x2_t a) {
  const uint32_t word = vget_lane_u32(a, 0);
  __builtin_memcpy(p, &word, 4);
}
MICA_INLINE I32 load_i8(const int8_t* p) {
  return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(load_four_bytes(p)))));
}
MICA_INLINE I32 load_u8(const uint8_t* p) {
  return from_u32(vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(load_four_bytes(p))))));
}
MICA_INLINE I32 load_i16(const int16_t* p) { return vmovl_s16(vld1_s16(p)); }
MICA_INLINE I32 load_u16(const uint16_t* p) { return from_u32(vmovl_u16(vld1_u16(p))); }
MICA_INLINE void store_i8(int8_t* p, I32 a) {
  const int16x4_t w = vqmovn_s32(a);
  store_four_bytes(p, vreinterpret_u32_s8(vqmovn_s16(vcombine_s16(w, w))));
}
MICA_INLINE void store_u8(uint8_t* p, I32 a) {
  const int16x4_t w = vqmovn_s32(a);
  store_four_bytes(p, vreinterpret_u32_u8(vqmovun_s16(vcombine_s16(w, w))));
}
MICA_INLINE void store_u16(uint16_t* p, I32 a) { vst1_u16(p, vmovn_u32(as_u32(a))); }

MICA_INLINE F32 load_f16(const uint16_t* p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
MICA_INLINE void store_f16(uint16_t* p, F32 a) { vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(a))); }
MICA_INLINE void prefetch(const void* p) { __builtin_prefetch(p); }

}  // namespace mica::MICA_ISA

#include "simd/composed.h"
