// From 32-bit sums to 8-bit results. Defined in single precision, step by step, so that every kernel agrees with the
// reference to the bit: round_half_even(float(sum) · multiplier) + zero, saturated; multiplier = x_scale · w_scale /
// y_scale.
#pragma once
#include <cmath>
#include <cstdint>

#include "types/tensor.h"

namespace mica {

struct IntegerRange {
  int64_t low, high;
};
inline IntegerRange range_of_i8(DType dtype) {
  return dtype == DType::kI8 ? IntegerRange{-128, 127} : IntegerRange{0, 255};
}

inline float requantize_multiplier(float x_scale, float w_scale, float y_scale) { return x_scale * w_scale / y_scale; }

inline int64_t requantize(int32_t sum, float multiplier, int64_t zero, IntegerRange range) {
  const float scaled = static_cast<float>(sum) * multiplier;
  const float low = static_cast<float>(range.low - zero), high = static_cast<float>(range.high - zero);
  const float kept = scaled > low ? (scaled < high ? scaled : high) : low;  // NaN becomes the lowest
  return static_cast<int64_t>(std::nearbyint(kept)) + zero;
}

// The one element of a zero point that may be left out.
inline int64_t zero_point(const TensorView* view, int64_t i = 0) {
  if (!view) return 0;
  return Elements(*view).integer(view->count() == 1 ? 0 : i);
}

}  // namespace mica
