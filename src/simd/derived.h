// What every set's header shares: operations that are combinations of the set's own.
#pragma once

namespace mica::MICA_ISA {

// As prefetch, into the second-level cache.
MICA_INLINE void prefetch_far(const void* p) { __builtin_prefetch(p, 0, 2); }

MICA_INLINE F32 load_strided(const float* p, ptrdiff_t stride) {
  float lane[kLanes];
  MICA_UNROLL for (int i = 0; i < kLanes; ++i) lane[i] = p[i * stride];
  return load(lane);
}
MICA_INLINE void store_strided(float* p, ptrdiff_t stride, F32 a) {
  float lane[kLanes];
  store(lane, a);
  MICA_UNROLL for (int i = 0; i < kLanes; ++i) p[i * stride] = lane[i];
}

// The upper half of a float is its bfloat16. Rounding to nearest even adds half of the last kept bit, and that bit; NaN
// keeps its upper half and is made quiet, because its payload may lie in the half that goes.
MICA_INLINE F32 load_bf16(const uint16_t* p) { return as_f32(shift_left<16>(load_u16(p))); }
MICA_INLINE void store_bf16(uint16_t* p, F32 a) {
  const I32 bits = as_i32(a), odd = bit_and(shift_right<16>(bits), set1(1));
  const I32 rounded = shift_right<16>(add(add(bits, set1(0x7fff)), odd));
  const I32 nan = bit_or(shift_right<16>(bits), set1(0x40));
  store_u16(p, select(is_nan(a), nan, rounded));
}

// Partial accesses of narrow types go through a small buffer: their speed matters only at the ends of rows.
template <class T>
struct LaneBuffer {
  T lane[kLanes] = {};
  MICA_INLINE explicit LaneBuffer(const T* p, int n) {
    for (int i = 0; i < n; ++i) lane[i] = p[i];
  }
  MICA_INLINE LaneBuffer() {}
  MICA_INLINE void put(T* p, int n) const {
    for (int i = 0; i < n; ++i) p[i] = lane[i];
  }
};
MICA_INLINE I32 load_i8_partial(const int8_t* p, int n) { return load_i8(LaneBuffer<int8_t>(p, n).lane); }
MICA_INLINE I32 load_u8_partial(const uint8_t* p, int n) { return load_u8(LaneBuffer<uint8_t>(p, n).lane); }
MICA_INLINE I32 load_i16_partial(const int16_t* p, int n) { return load_i16(LaneBuffer<int16_t>(p, n).lane); }
MICA_INLINE I32 load_u16_partial(const uint16_t* p, int n) { return load_u16(LaneBuffer<uint16_t>(p, n).lane); }
MICA_INLINE F32 load_f16_partial(const uint16_t* p, int n) { return load_f16(LaneBuffer<uint16_t>(p, n).lane); }
MICA_INLINE F32 load_bf16_partial(const uint16_t* p, int n) { return load_bf16(LaneBuffer<uint16_t>(p, n).lane); }
MICA_INLINE void store_i8_partial(int8_t* p, I32 a, int n) {
  LaneBuffer<int8_t> b;
  store_i8(b.lane, a);
  b.put(p, n);
}
MICA_INLINE void store_u8_partial(uint8_t* p, I32 a, int n) {
  LaneBuffer<uint8_t> b;
  store_u8(b.lane, a);
  b.put(p, n);
}
MICA_INLINE void store_f16_partial(uint16_t* p, F32 a, int n) {
  LaneBuffer<uint16_t> b;
  store_f16(b.lane, a);
  b.put(p, n);
}
MICA_INLINE void store_bf16_partial(uint16_t* p, F32 a, int n) {
  LaneBuffer<uint16_t> b;
  store_bf16(b.lane, a);
  b.put(p, n);
}

}  // namespace mica::MICA_ISA
