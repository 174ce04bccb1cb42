// Winograd's transform of weights, 16 output channels side by side. Included by conv.isa.cc. By additions and
// multiplications alone, so that every instruction set gives the same bits.
#pragma once
#include "kernels/conv/winograd.inl"
#include "kernels/pack/pack.h"
#include "simd/simd.h"

namespace mica::MICA_ISA {

// G d along one axis; the points ±p share the sums of even and of odd powers.
template <int kPoints, int kTaps>
MICA_INLINE void weight_points(const F32 (&d)[kTaps], F32 (&out)[kPoints]) {
  static constexpr WinogradRows kWeights = winograd_rows(kPoints, kTaps);
  const auto at = [&](int i, int k) { return mul(d[k], set1(static_cast<float>(kWeights.g[i][k]))); };
  out[0] = at(0, 0);
  out[kPoints - 1] = d[kTaps - 1];
  MICA_UNROLL for (int i = 1; i < kPoints - 1; i += 2) {
    F32 even = at(i, 0), odd = at(i, 1);
    MICA_UNROLL for (int k = 2; k < kTaps; k += 2) even = add(even, at(i, k));
    MICA_UNROLL for (int k = 3; k < kTaps; k += 2) odd = add(odd, at(i, k));
    out[i] = add(even, odd);
    out[i + 1] = sub(even, odd);
  }
}

// A shorter filter has last taps of zero, and nothing is written where it has no part. In a line where the values of
// all points have a chance to stay in registers.
template <int kPoints, int kTaps, bool kFlat>
void transform_weights(const WinogradWeights& w) {
  constexpr int kDown = kFlat ? 1 : kTaps, kRows = kFlat ? 1 : kPoints;
  constexpr bool kInLine = kRows * kTaps <= 18;
  // One tap at most is missing but of three on one axis: code for each that might be would be long.
  const int down = kDown - (w.missing[0] > 0);
  const int across = kTaps - (kFlat && kTaps == 3 ? w.missing[1] : w.missing[1] > 0);
  for (int64_t at = 0; at < w.channels * kPanel; at += kLanes) {
    F32 half[kRows][kTaps];
    repeat<kTaps, kInLine>([&](int x) __attribute__((always_inline)) {
      F32 d[kDown], e[kRows];
      MICA_UNROLL for (int y = 0; y < kDown; ++y) d[y] =
          y < down && x < across ? load(w.from + y * w.tap_step[0] + x * w.tap_step[1] + at) : zero();
      if constexpr (kFlat)
        e[0] = d[0];
      else
        weight_points<kPoints, kTaps>(d, e);
      MICA_UNROLL for (int i = 0; i < kRows; ++i) half[i][x] = e[i];
    });
    repeat<kRows, kInLine>([&](int i) __attribute__((always_inline)) {
      F32 out[kPoints];
      weight_points<kPoints, kTaps>(half[i], out);
      MICA_UNROLL for (int j = 0; j < kPoints; ++j) if (float* to = w.to[i * kPoints + j]) store(to + at, out[j]);
    });
  }
}

template <int kPoints, int kTaps>
MICA_INLINE void transform_weights(const WinogradWeights& w) {
  if (w.points[0] == 1) return transform_weights<kPoints, kTaps, true>(w);
  transform_weights<kPoints, kTaps, false>(w);
}

void winograd_weights(const WinogradWeights& w) {
  const int taps = w.taps[1];
  if (w.points[1] == 4) return taps == 2 ? transform_weights<4, 2>(w) : transform_weights<4, 3>(w);
  if (w.points[1] == 6)
    return taps == 2 ? transform_weights<6, 2>(w) : taps == 3 ? transform_weights<6, 3>(w) : transform_weights<6, 5>(w);
  return taps == 3 ? transform_weights<8, 3>(w) : taps == 5 ? transform_weights<8, 5>(w) : transform_weights<8, 7>(w);
}

}  // namespace mica::MICA_ISA
