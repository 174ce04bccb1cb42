// Products of terms in pairs (Winograd, A New Algorithm for Inner Products, 1968): of two terms of a sum
//
//   x1·y1 + x2·y2 = (x1 + y2)·(x2 + y1) - x1·x2 - y1·y2
//
// takes one multiplication and two additions; what is subtracted is one number for each row of A, made once for all of
// its columns, and one for each column of B, made ahead. Where additions have units beside those of multiply-adds, as
// many of them, two of three pairs are computed so: four additions and four multiply-adds for six terms, at the same
// time. Pairs (0, 1) and (4, 5) of each six steps of k are, the third one and what is left of k are plain.
//
// The sums x1 + y2 lose what is small beside the other one. So B's columns and A's rows are scaled by powers of two to
// a mean size of about 1, and an output by their inverses: exactly. Its error is then near a plain chain's, whatever
// the sizes of rows and columns are.
//
// An output is the same sums in the same order however rows and columns are split. A row or a panel of columns with a
// NaN, an infinity or numbers beyond 2^±40 is multiplied as a plain product would, to the same bits.
#pragma once
#include "base/parts.h"
#include "kernels/gemm/gemm.h"

namespace mica {

// What a trimmed build may leave out (cmake/MicaTrim.cmake): it is then never chosen.
inline constexpr bool kWithPaired = has_part("kernel", "gemm_f32_paired") || has_part("kernel", "conv_f32_paired");

inline constexpr int64_t kPairedSteps = 6;                                         // of k, that belong together
inline constexpr int kPairedRows = 12, kPairedLowRows = 10, kPairedHighRows = 13;  // of a tile
inline constexpr int64_t kPairedPanels = 4;  // that are made in a buffer at a time
// Lines in front of a panel: what its columns' sums begin with, and the inverses of their scales.
inline constexpr int64_t kPairedLines = 2;

// Whether the algorithm can compute the problem at all: B in panels, one matrix, A by rows, AVX-512.
bool paired_fits(const GemmProblem& problem, Isa isa);

// So many rows go by in as few tiles as hold them, of 12 rows, the first `others` of them of another height: 13 where
// 12 are too few, or else 10, as many as there are and as leave no row over, or one. (Always inlined: a copy outside
// the sets' namespaces could be another set's.)
struct PairedHeights {
  int64_t tiles, others;
  int height;
  __attribute__((always_inline)) int64_t rows() const {  // that are computed
    return tiles * kPairedRows + others * (height - kPairedRows);
  }
};
inline __attribute__((always_inline)) PairedHeights paired_heights(int64_t rows) {
  const int64_t tiles = (rows + kPairedHighRows - 1) / kPairedHighRows, over = rows - tiles * kPairedRows;
  if (over >= 0) return {tiles, over, kPairedHighRows};
  const int64_t low = -over / (kPairedRows - kPairedLowRows);
  return {tiles, low < tiles ? low : tiles, kPairedLowRows};
}

// Tasks of rows and panels, as many of each as leave the least to the thread with the most of them. Pure. The problem
// must fit.
GemmChoice choose_paired(const GemmProblem& problem, Isa isa, const GemmLimits& limits);

// Cycles of one core.
double paired_cycles(const GemmProblem& problem, const GemmLimits& limits);
// Whether it gains more than measurements scatter by: where additions have units of their own, and units are half as
// wide as vectors. Beside whole ones, three loads would have to begin in each cycle, where two do.
bool paired_pays(const GemmProblem& problem, const GemmLimits& limits, double cycles, double plain_cycles);

// The standard deviation of an output's error, relative to that of the output, in the model of strassen_error
// (kernels/gemm/strassen.h) and for rows and columns of variance 1. A chain of 2k/3 multiply-adds begins with minus a
// row's and a column's k/3 products of variance 1 and ends with the variance k, 5k/6 in the mean: (2k/3) · (5k/6) ·
// u²/3. The row's and the column's sums err by (k/3)² · u²/6 each; the two additions of a pair by u²/3 of their
// product's variance 4, k/3 times. Relative to k:  u² · (0.222 k + 0.89).
double paired_error(int64_t k);
// At most, where large elements stand in pairs, which scales keep at 4 k in sum: a chain may carry that sum to its end.
// Its 2k/3 roundings of (4k)² · u²/3 are, where two elements make the sum, to be held against their squares, 8k, times
// the column's k, over k: 2/3 k · u.
double paired_error_of_large(int64_t k);

// B's columns scaled and in panels, two lines in front of each, from the panels of B: panels first to last - 1.
struct PairedWeights {
  int64_t k = 0, panels = 0;
  float alpha = 1;  // factor of B
  const float* from = nullptr;
  float* to = nullptr;
};
int64_t paired_weights_size(const GemmProblem& problem);  // floats
// Always inlined: a copy outside the sets' namespaces could be another set's.
inline __attribute__((always_inline)) int64_t paired_panel(int64_t k) { return (k + kPairedLines) * 16; }
// Floats from a scaled row to the next: an odd number of lines, with room for whole vectors.
inline __attribute__((always_inline)) int64_t paired_pitch(int64_t k) { return (k + 31) / 32 * 32 + 16; }

}  // namespace mica
