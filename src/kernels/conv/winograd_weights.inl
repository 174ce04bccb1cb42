// Winograd's transform of weights, 16 output channels side by side. Included by conv.isa.cc. Sums are in doubles by
// additions and multiplications alone, so that every instruction set gives the same bits; each result is rounded once.
#pragma once
#include "kernels/conv/winograd.h"
#include "kernels/pack/pack.h"
#include "simd/simd.h"

namespace mica::MICA_ISA {

// Half as many doubles as a vector has floats.
inline constexpr int kWideLanes = kLanes / 2;
typedef double Wide __attribute__((vector_size(4 * kLanes)));
typedef float Narrow __attribute__((vector_size(2 * kLanes)));

MICA_INLINE Wide read_wide(const float* p) {
  Narrow a;
  __builtin_memcpy(&a, p, sizeof a);
  return __builtin_convertvector(a, Wide);
}
MICA_INLINE Wide read_wide(const double* p) {
  Wide a;
  __builtin_memcpy(&a, p, sizeof a);
  return a;
}
MICA_INLINE void write_wide(float* p, const Wide& a) {
  const Narrow narrow = __builtin_convertvector(a, Narrow);
  __builtin_memcpy(p, &narrow, sizeof narrow);
}
MICA_INLINE void write_wide(double* p, const Wide& a) { __builtin_memcpy(p, &a, sizeof a); }

// G d along one axis for one panel; the points ±p share the sums of even and of odd powers.
template <int kPoints, int kTaps, class In, class Out>
void weight_points(const WinogradRows& rows, const In* in, int64_t in_step, Out* out, int64_t out_step) {
  for (int n = 0; n < kPanel; n += kWideLanes) {
    Wide d[kTaps];
    MICA_UNROLL for (int k = 0; k < kTaps; ++k) d[k] = read_wide(in + k * in_step + n);
    write_wide(out + n, d[0] * rows.g[0][0]);
    for (int i = 1; i < kPoints - 1; i += 2) {
      Wide even = d[0] * rows.g[i][0], odd = d[1] * rows.g[i][1];
      MICA_UNROLL for (int k = 2; k < kTaps; k += 2) even += d[k] * rows.g[i][k];
      MICA_UNROLL for (int k = 3; k < kTaps; k += 2) odd += d[k] * rows.g[i][k];
      write_wide(out + i * out_step + n, even + odd);
      write_wide(out + (i + 1) * out_step + n, even - odd);
    }
    write_wide(out + (kPoints - 1) * out_step + n, d[kTaps - 1]);
  }
}

template <int kPoints, int kTaps>
void transform_weights(const WinogradWeights& w) {
  const bool flat = w.points[0] == 1;
  alignas(64) double half[kPoints * kTaps * kPanel];
  for (int64_t c = 0; c < w.channels; ++c) {
    const float* from = w.from + c * kPanel;
    float* to = w.to + c * kPanel;
    if (flat) {
      weight_points<kPoints, kTaps>(w.rows, from, w.tap_step, to, w.point_step);
      continue;
    }
    for (int x = 0; x < kTaps; ++x)
      weight_points<kPoints, kTaps>(w.rows, from + x * w.tap_step, kTaps * w.tap_step, half + x * kPanel,
                                    kTaps * kPanel);
    for (int i = 0; i < kPoints; ++i)
      weight_points<kPoints, kTaps>(w.rows, half + i * kTaps * kPanel, kPanel, to + i * kPoints * w.point_step,
                                    w.point_step);
  }
}

void winograd_weights(const WinogradWeights& w) {
  const int taps = w.taps[1];
  if (w.points[1] == 4) return taps == 2 ? transform_weights<4, 2>(w) : transform_weights<4, 3>(w);
  if (w.points[1] == 6)
    return taps == 2 ? transform_weights<6, 2>(w) : taps == 3 ? transform_weights<6, 3>(w) : transform_weights<6, 5>(w);
  return taps == 3 ? transform_weights<8, 3>(w) : taps == 5 ? transform_weights<8, 5>(w) : transform_weights<8, 7>(w);
}

}  // namespace mica::MICA_ISA
