// The last columns of a product's rows, where no whole panel is left, apart from the others: all rows of a pass at
// once, in tiles of their own. Beside the tiles of each few rows they would take as long as a whole panel, since half a
// panel has too few sums to hide the latency of a multiply-add, and what reaches beyond the last column goes through a
// buffer. Included by gemm.isa.cc.
#pragma once
#include "kernels/gemm/columns.inl"

namespace mica::MICA_ISA {

// How many panels of the block are the end of its columns: two, of which the last is half one or less, the last one
// alone, or none. `rows`: how many rows there are.
MICA_INLINE int end_panels(const RowBlock& block, int64_t rows) {
  const GemmEpilogue& e = *block.epilogue;
  const int64_t beyond = block.panel_end * kPanel - block.n;
  const bool whole = block.first_k && block.last_k && block.segment_k > 0;
  if (beyond <= 0 || rows <= kMaxRows || !whole || e.finish || !is_plain(e.activation)) return 0;
  if (block.residual && !adds_then_clips(e)) return 0;
  if (beyond < kPanel / 2) return 1;
  return block.panel_end - block.panel_begin > 1 ? 2 : 0;
}

// Tiles of the end: of how many rows and vectors.
struct EndTiles {
  PlainTilesFn run;
  int64_t rows, vectors;
};
inline constexpr int kEndVectors = kPanelVectors * 3 / 2;

// Rows of sums on their way to C: the residual and the clip. The last vector begins within the one before it where not
// all of it counts.
MICA_INLINE void finish_rows(const float* sums, const GemmEpilogue& e, const TilePlace& at, int64_t rows,
                             int64_t vectors) {
  const bool clips = e.activation == Activation::kClip;
  const F32 lo = set1(clips ? e.a : -__builtin_inff()), hi = set1(clips ? e.b : __builtin_inff());
  const int64_t last = at.columns - kLanes;
  const float* residual = at.residual;
  float* c = at.c;
  for (int64_t i = 0; i < rows; ++i, sums += vectors * kLanes, c += at.c_stride) {
    const auto finished = [&](int64_t j) __attribute__((always_inline)) {
      const F32 sum = load(sums + j);
      return min_fast(hi, max_fast(lo, residual ? add(sum, load(residual + j)) : sum));
    };
    const F32 y = finished(last);  // before what it shares with the vector before it is stored: C may be the residual
    for (int64_t j = 0; j < last; j += kLanes) store(c + j, finished(j));
    store(c + last, y);
    if (residual) residual += e.residual_stride;
  }
}

// The end of `rows` rows from the block's first one on: whole tiles, with a residual, or where not all of their last
// vector counts, some at a time in a buffer, and what is left below them as all rows of other blocks.
template <int R>
__attribute__((noinline)) void run_ends(RowBlock block, int panels, int64_t rows) {
  constexpr int64_t kMostRows = 64, kLower = R * kPanelVectors / kEndVectors;
  static constexpr EndTiles kKinds[] = {
      {plain_tiles<kPlainLow, true, false, R, kPanelVectors>, R, kPanelVectors},
      {plain_tiles<kPlainLow, true, false, kLower, kEndVectors>, kLower, kEndVectors}};
  const EndTiles end = kKinds[panels - 1];
  const GemmEpilogue& e = *block.epilogue;
  const int64_t width = end.vectors * kLanes;
  alignas(64) float sums[kMostRows * kEndVectors * kLanes], bias[kEndVectors * kLanes];
  block.panel_begin = block.panel_end - panels;
  const float* a = block.segments[0];
  block.segments = &a;
  const int64_t first = block.panel_begin * kPanel, columns = block.n - first;
  whole_bias(e.bias ? e.bias + first : nullptr, columns, width, bias);
  const bool direct = !block.residual && columns == width;
  GemmEpilogue plain{.residual_stride = e.residual_stride};
  if (!direct) block.epilogue = &plain;
  const int64_t most = direct ? rows : kMostRows;
  while (rows >= end.rows) {
    const int64_t tiles = (rows < most ? rows : most) / end.rows, done = tiles * end.rows;
    const TilePlace at = TilePlace::first_of(block);
    TilePlace place{at.b, direct ? at.c : sums, direct ? at.c_stride : width, bias, nullptr, at.end, width};
    end.run(block, place, tiles, 1);
    if (!direct) finish_rows(sums, e, at, done, end.vectors);
    pass_rows(block, a, done);
    rows -= done;
  }
  if (rows == 0) return;
  block.epilogue = &e;
  block.rows = static_cast<int>(rows);
  run_row_block(block);
}

}  // namespace mica::MICA_ISA
