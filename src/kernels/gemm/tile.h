// The inner product of everything that multiplies matrices: up to kMaxRows rows of A against a range of packed panels.
// One compiled copy per instruction set, which the families above gemm share.
#pragma once
#include <stdint.h>

#include "kernels/gemm/epilogue.h"

namespace mica {

inline constexpr int kMostRows = 14;  // the largest tile of any instruction set
// Rows, or one less, of AVX2's tiles that take the last whole panel and half a panel behind it together: half a panel
// by itself has too few sums to hide the latency of a multiply-add.
inline constexpr int kRowsOfBoth = 4;

// Memory that will be read or written soon and is fetched into the second-level cache meanwhile, or into the first when
// it is near: by so many main tiles of a block, a line at every period-th step of k. Evenly over as many tiles as there
// are, since few lines can be on their way at a time.
struct FetchRun {
  const float* at = nullptr;
  int64_t tiles = 0, period = 1;
  bool near = false;
};

inline constexpr int kFetchRuns = 3;

// Of weights: fewer stay near.
inline constexpr int64_t kNearWeights = 1 << 15;

// Most steps of k of panels that many rows pass: 64 KiB a panel. In longer ones nothing was measured.
inline constexpr int64_t kColumnDepth = 1024;

// Spreads `floats` over the steps of k of `tiles` main tiles, at most a line of memory with each; `at` is left to set.
// Always inlined: a copy outside the sets' namespaces could be another set's.
inline __attribute__((always_inline)) FetchRun fetch_run(int64_t floats, int64_t tiles, int64_t depth) {
  constexpr int64_t kLineFloats = 16;
  if (floats <= 0 || tiles <= 0 || depth <= 0) return {};
  const int64_t period = tiles * depth * kLineFloats / floats;
  return {nullptr, tiles, period > 1 ? period : 1};
}

// Row i of A is `segments` runs of segment_k floats, the s-th at segments[s] + a_first + i · a_stride; a plain matrix
// has one. Each output is one chain of multiply-adds over k in ascending order, beginning with the bias (or, when
// !first_k, with what is in C), so that no choice of tile or of blocking changes a bit of it.
struct RowBlock {
  const float* const* segments = nullptr;
  int64_t segment_count = 1, segment_k = 0, a_stride = 0, a_first = 0;
  int rows = 0;
  const float* b = nullptr;  // the first panel, at this block's first k
  int64_t panel_stride = 0;  // floats from panel to panel
  // Behind the last of the weights that these panels are a part of, whose lines tiles may ask for before they are
  // needed; null: behind this block's.
  const float* b_end = nullptr;
  int64_t panel_begin = 0, panel_end = 0;
  int64_t n = 0;       // columns of C; the last panel may reach beyond
  float* c = nullptr;  // column 0 of this block's first row
  int64_t c_stride = 0;
  const float* residual = nullptr;  // column 0 of the first row of epilogue->residual, or null
  int64_t row = 0, column = 0;      // index of the first row, and of C's first column, for epilogue->finish
  FetchRun fetch[kFetchRuns];       // one after the other
  int fetches = 0;                  // how many of them
  // These rows are the first to read panels that do not stay near and that nobody has fetched. Sets whose tiles ask for
  // nothing ahead by themselves ask for these panels instead of what there is to fetch.
  bool first_rows = false;
  bool first_k = true, last_k = true;
  bool half_units = false;  // a vector's multiply-add takes as long as two of half vectors
  const GemmEpilogue* epilogue = nullptr;
};

// The height of the next of `tiles` tiles of `left` rows, at most `highest`: only the last one is lower, or the last
// two where one alone would have too few sums to hide the latency of a multiply-add.
inline __attribute__((always_inline)) int tile_height(int64_t left, int64_t tiles, int highest) {
  constexpr int64_t kEnoughRows = 7;
  const int64_t last = left - highest;
  const bool suffices = tiles == 2 && (last > highest / 2 || last >= kEnoughRows);
  return tiles > 2 || suffices ? highest : static_cast<int>((left + tiles - 1) / tiles);
}

using RowBlockFn = void (*)(const RowBlock&);

}  // namespace mica
