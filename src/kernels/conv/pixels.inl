// A picture's bytes become floats. Included by planes.inl.
#pragma once
#include "kernels/conv/conv.h"
#include "simd/simd.h"

namespace mica::MICA_ISA {

// One scale and one shift for each lane, again and again after `period` floats.
struct PixelScales {
  const float *scale, *shift;
  int64_t period;
};

MICA_INLINE void convert_pixels(const uint8_t* in, PixelType type, const PixelScales& s, int64_t n, float* out) {
  const bool is_signed = type == PixelType::kI8;
  int64_t i = 0, k = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const I32 x = is_signed ? load_i8(reinterpret_cast<const int8_t*>(in + i)) : load_u8(in + i);
    store(out + i, fma(to_f32(x), load(s.scale + k), load(s.shift + k)));
    k = k + kLanes == s.period ? 0 : k + kLanes;
  }
  const int rest = static_cast<int>(n - i);
  if (rest == 0) return;
  const I32 x =
      is_signed ? load_i8_partial(reinterpret_cast<const int8_t*>(in + i), rest) : load_u8_partial(in + i, rest);
  store_partial(out + i, fma(to_f32(x), load(s.scale + k), load(s.shift + k)), rest);
}

// Bytes that do not lie side by side are brought together first.
MICA_INLINE void convert_apart(const uint8_t* in, int64_t step, PixelType type, const PixelScales& s, int64_t n,
                               float* out) {
  uint8_t together[kLanes];
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    for (int64_t k = 0; k < count; ++k) together[k] = in[(i + k) * step];
    convert_pixels(together, type, s, count, out + i);
  }
}

MICA_INLINE void convert_run(const uint8_t* in, int64_t step, PixelType type, const PixelScales& s, int64_t n,
                             float* out) {
  if (step == 1)
    convert_pixels(in, type, s, n, out);
  else
    convert_apart(in, step, type, s, n, out);
}

}  // namespace mica::MICA_ISA
