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

// G d along one axis for one panel, to out(point); the points ±p share the sums of even and of odd powers. A shorter
// filter has no last tap, and no part in the last point.
template <int kPoints, int kTaps, class In, class Out>
MICA_INLINE void weight_points(const WinogradRows& rows, bool is_shorter, const In* in, int64_t in_step, Out out) {
  for (int n = 0; n < kPanel; n += kWideLanes) {
    Wide d[kTaps] = {};
    MICA_UNROLL for (int k = 0; k < kTaps - 1; ++k) d[k] = read_wide(in + k * in_step + n);
    if (!is_shorter) d[kTaps - 1] = read_wide(in + (kTaps - 1) * in_step + n);
    write_wide(out(0) + n, d[0] * rows.g[0][0]);
    for (int i = 1; i < kPoints - 1; i += 2) {
      Wide even = d[0] * rows.g[i][0], odd = d[1] * rows.g[i][1];
      MICA_UNROLL for (int k = 2; k < kTaps; k += 2) even += d[k] * rows.g[i][k];
      MICA_UNROLL for (int k = 3; k < kTaps; k += 2) odd += d[k] * rows.g[i][k];
      write_wide(out(i) + n, even + odd);
      write_wide(out(i + 1) + n, even - odd);
    }
    if (!is_shorter) write_wide(out(kPoints - 1) + n, d[kTaps - 1]);
  }
}

template <int kPoints, int kTaps>
void transform_weights(const WinogradWeights& w) {
  alignas(64) double half[kPoints * kTaps * kPanel];
  for (int64_t c = 0; c < w.channels; ++c) {
    const float* from = w.from + c * kPanel;
    const auto at = [&](int row) { return [&w, c, row](int i) { return w.to[row * kPoints + i] + c * kPanel; }; };
    if (w.points[0] == 1) {
      weight_points<kPoints, kTaps>(w.rows, w.is_shorter[1], from, w.tap_step[1], at(0));
      continue;
    }
    for (int x = 0; x < kTaps - w.is_shorter[1]; ++x)
      weight_points<kPoints, kTaps>(w.rows, w.is_shorter[0], from + x * w.tap_step[1], w.tap_step[0],
                                    [&](int i) { return half + (i * kTaps + x) * kPanel; });
    for (int i = 0; i < kPoints - w.is_shorter[0]; ++i)
      weight_points<kPoints, kTaps>(w.rows, w.is_shorter[1], half + i * kTaps * kPanel, kPanel, at(i));
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
