// Which elements of an axis a coordinate of a grid takes, and with what weights: for the reference and the kernel.
#pragma once
#include <algorithm>
#include <cmath>

#include "ops/image/grid_sample.h"

namespace mica::grid {

// Folds x back into [low, high] at its ends.
inline float reflect(float x, float low, float high) {
  const float range = high - low;
  if (!(range > 0)) return low;
  const float beyond = x < low ? low - x : x > high ? x - high : 0;
  if (beyond == 0) return x;
  const float turns = std::floor(beyond / range), rest = beyond - turns * range;
  const bool even = std::fmod(turns, 2.0f) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

struct Axis {
  int64_t size;
  float low, high;
};
inline Axis axis_of(const GridSample& attributes, int64_t size) {
  return attributes.align_corners ? Axis{size, 0, static_cast<float>(size - 1)}
                                  : Axis{size, -0.5f, static_cast<float>(size) - 0.5f};
}

// The element at an integer place of one axis; -1 for a zero.
inline int64_t element_place(const Axis& axis, GridPadding padding, int64_t i) {
  if (i >= 0 && i < axis.size) return i;
  if (padding == GridPadding::kZeros) return -1;
  if (padding == GridPadding::kBorder) return i < 0 ? 0 : axis.size - 1;
  return std::clamp<int64_t>(static_cast<int64_t>(reflect(static_cast<float>(i), axis.low, axis.high)), 0,
                             axis.size - 1);
}

// Up to four places and weights along one axis for coordinate g in [-1, 1].
inline int axis_samples(const GridSample& attributes, const Axis& axis, float g, int64_t* place, double* weight) {
  const auto size = static_cast<float>(axis.size);
  float x = attributes.align_corners ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
  if (attributes.mode == GridMode::kNearest) x = std::nearbyint(x);
  if (attributes.padding == GridPadding::kBorder && (x < axis.low || x > axis.high)) x = std::clamp(x, 0.0f, size - 1);
  if (attributes.padding == GridPadding::kReflection && std::isfinite(x)) x = reflect(x, axis.low, axis.high);
  if (!(std::fabs(x) < 1e9f)) x = -1e9f;  // NaN and infinity are outside
  if (attributes.mode == GridMode::kNearest) {
    place[0] = element_place(axis, attributes.padding, static_cast<int64_t>(x));
    weight[0] = 1;
    return 1;
  }
  const float base = std::floor(x);
  const double t = static_cast<double>(x - base);
  const auto first = static_cast<int64_t>(base) - (attributes.mode == GridMode::kCubic ? 1 : 0);
  const int taps = attributes.mode == GridMode::kCubic ? 4 : 2;
  for (int k = 0; k < taps; ++k) place[k] = element_place(axis, attributes.padding, first + k);
  if (taps == 2) {
    weight[0] = 1 - t;
    weight[1] = t;
    return taps;
  }
  constexpr double a = -0.75;  // of Keys' cubic convolution
  for (int k = 0; k < 4; ++k) {
    const double d = std::fabs(t + 1 - k);
    weight[k] = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  }
  return taps;
}

}  // namespace mica::grid
