#include "kernels/quant/quant.h"

#include "simd/simd.h"

namespace mica::MICA_ISA {
namespace {

MICA_INLINE I32 load_8(const uint8_t* p) { return load_u8(p); }
MICA_INLINE I32 load_8(const int8_t* p) { return load_i8(p); }
MICA_INLINE I32 load_8_partial(const uint8_t* p, int n) { return load_u8_partial(p, n); }
MICA_INLINE I32 load_8_partial(const int8_t* p, int n) { return load_i8_partial(p, n); }
MICA_INLINE void store_8(uint8_t* p, I32 a) { store_u8(p, a); }
MICA_INLINE void store_8(int8_t* p, I32 a) { store_i8(p, a); }
MICA_INLINE void store_8_partial(uint8_t* p, I32 a, int n) { store_u8_partial(p, a, n); }
MICA_INLINE void store_8_partial(int8_t* p, I32 a, int n) { store_i8_partial(p, a, n); }

template <class T>
void widen(const T* in, float zero, float* out, int64_t count) {
  const F32 z = set1(zero);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(out + i, sub(to_f32(load_8(in + i)), z));
  const int left = static_cast<int>(count - i);
  if (left > 0) store_partial(out + i, sub(to_f32(load_8_partial(in + i, left)), z), left);
}

template <class T>
void requantize(const float* in, const Requantize& how, T* out, int64_t count) {
  const F32 low = set1(static_cast<float>(how.low - how.zero)), high = set1(static_cast<float>(how.high - how.zero));
  const F32 all = set1(how.multiplier);
  const I32 zero = set1(how.zero), one_bias = set1(how.bias);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const I32 sum = add(to_i32(load(in + i)), how.biases ? load(how.biases + i) : one_bias);
    const F32 x = mul(to_f32(sum), how.multipliers ? load(how.multipliers + i) : all);
    store_8(out + i, add(to_i32(min_fast(high, max_fast(low, x))), zero));
  }
  const int left = static_cast<int>(count - i);
  if (left <= 0) return;
  const I32 sum = add(to_i32(load_partial(in + i, left)), how.biases ? load_partial(how.biases + i, left) : one_bias);
  const F32 x = mul(to_f32(sum), how.multipliers ? load_partial(how.multipliers + i, left) : all);
  store_8_partial(out + i, add(to_i32(min_fast(high, max_fast(low, x))), zero), left);
}

void whole(const float* in, int32_t* out, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(out + i, to_i32(load(in + i)));
  const int left = static_cast<int>(count - i);
  if (left > 0) store_partial(out + i, to_i32(load_partial(in + i, left)), left);
}

}  // namespace

extern const QuantKernels quant_kernels;
const QuantKernels quant_kernels = {.widen_u8 = widen<uint8_t>,
                                    .widen_i8 = widen<int8_t>,
                                    .requantize_u8 = requantize<uint8_t>,
                                    .requantize_i8 = requantize<int8_t>,
                                    .to_i32 = whole};

}  // namespace mica::MICA_ISA
