// Rows of 8-bit integers to and from fp32, for products that are computed exactly in fp32: integers below 2^24 and
// their sums are exact there.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace mica {

enum class Isa : uint8_t;

// How sums become results: round_half_even(clip(float(int32(sum) + bias) · multiplier, low - zero, high - zero)) +
// zero.
struct Requantize {
  const float* multipliers = nullptr;  // one for each element of a row, or null: `multiplier` for all
  float multiplier = 1;
  const int32_t* biases = nullptr;  // likewise; added modulo 2^32
  int32_t bias = 0;
  int32_t zero = 0, low = 0, high = 255;
};

struct QuantKernels {
  // out[i] = float(in[i]) - zero
  void (*widen_u8)(const uint8_t* in, float zero, float* out, int64_t count);
  void (*widen_i8)(const int8_t* in, float zero, float* out, int64_t count);
  void (*requantize_u8)(const float* in, const Requantize& how, uint8_t* out, int64_t count);
  void (*requantize_i8)(const float* in, const Requantize& how, int8_t* out, int64_t count);
  // out[i] = int32(in[i]); whole numbers
  void (*to_i32)(const float* in, int32_t* out, int64_t count);
};
const QuantKernels& quant_kernels(Isa isa);

}  // namespace mica
