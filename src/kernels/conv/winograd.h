// Winograd's F(4x4, 3x3) (Lavin and Gray, arXiv:1509.09308): 4x4 outputs of a 3x3 convolution from 6x6 inputs by 36
// products instead of 144,
//
//   Y = Aᵀ [ (G g Gᵀ) ⊙ (Bᵀ d B) ] A,   interpolation points 0, ±1, ±2, ∞.
//
// Error. A transform enlarges magnitudes by at most its largest absolute row sum, on each of its two sides: B by 10, G
// by 1/2, A by 19. In the worst case every rounding of relative size 2^-24 therefore reaches the output (10 · 1/2 ·
// 19)² = 9025 times enlarged, relative to the terms' magnitudes; the signs of random operands cancel that back: the
// error seen is about four times that of the direct sum. Tests hold it to 16 times the bound of the direct sum, 16 ·
// length · 2^-24 · Σ|x||w|.
//
// A NaN or an infinity reaches all 16 outputs of the tiles that read it.
//
// Nothing is undone exactly: unpacking solves for g from the transformed weights.
#pragma once
#include <stdint.h>

namespace mica {

inline constexpr int kWinogradPoints = 36;

// w[n][c][3][3] to 36 matrices c x n, each in panels of 16: u[point][panel][c][16]. Computed in doubles, rounded once.
int64_t winograd4x4_size(int64_t in_channels, int64_t out_channels);
void pack_winograd4x4(const float* w, int64_t in_channels, int64_t out_channels, float* u);
// The weights again, each within 2 units of its largest neighbour's last place.
void unpack_winograd4x4(const float* u, int64_t in_channels, int64_t out_channels, float* w);

}  // namespace mica
