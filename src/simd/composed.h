// What AVX-512 does with an instruction or two, out of those of the other sets.
#pragma once

namespace mica::MICA_ISA {

using HalfF32 = F32;
MICA_INLINE HalfF32 load_half(const float* p) { return load(p); }
MICA_INLINE HalfF32 set1_half(float x) { return set1(x); }
MICA_INLINE HalfF32 lower(F32 a) { return a; }
MICA_INLINE HalfF32 upper(F32 a) { return a; }
MICA_INLINE F32 join(HalfF32 low, HalfF32) { return low; }

// 2^n is applied in two halves, so that neither leaves the range of normal numbers.
MICA_INLINE F32 scale_by_power(F32 a, F32 n) {
  const I32 whole = to_i32(n), half = shift_right_sign<1>(whole);
  const F32 first = as_f32(shift_left<23>(add(half, set1(int32_t{127}))));
  const F32 second = as_f32(shift_left<23>(add(sub(whole, half), set1(int32_t{127}))));
  return mul(mul(a, first), second);
}
inline constexpr float kLeastPower = -88.0f;
MICA_INLINE F32 scale_by_rounded(F32 a, F32 rounded) {
  return mul(a, as_f32(add(shift_left<23>(as_i32(rounded)), set1(int32_t{127 << 23}))));
}

// Halves are combined until one lane is left, as reduce_add does; NaN propagates.
MICA_INLINE float reduce_max(F32 a) {
  float lane[kLanes];
  store(lane, a);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] = lane[i] > lane[i + half] || lane[i] != lane[i] ? lane[i] : lane[i + half];
  return lane[0];
}
MICA_INLINE float reduce_min(F32 a) {
  float lane[kLanes];
  store(lane, a);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] = lane[i] < lane[i + half] || lane[i] != lane[i] ? lane[i] : lane[i + half];
  return lane[0];
}

}  // namespace mica::MICA_ISA
