// Many rows of the highest tiles at a call. Included by ends.inl.
//
// A step of k of 6 x 16 sums takes six cycles and reads a line of a panel, 11 bytes a cycle. Where a tile's rows stay
// and panels pass, these lines come from the second-level cache or from beyond it, once for each six rows. In columns,
// a panel of a few hundred steps of k stays in the first-level cache while rows pass, whose numbers are 4 bytes a
// cycle. The next panel is fetched meanwhile, which is what gains; longer ones are fetched, too.
#pragma once
#include "kernels/gemm/tile.inl"

namespace mica::MICA_ISA {

// So many steps of k of all panels together stay in the first-level cache beside a tile's rows: these stay then, too.
constexpr int64_t kNearSteps = 256;

struct ManyTiles {
  PlainTilesFn run = nullptr;  // null: tiles go by rows of their own
  bool down = false;           // in columns, instead of in rows
  bool finishes = false;       // the activation, or a residual, is left to a pass behind them
};

// Of the block's whole panels. A residual that is C itself must be added before C is stored.
MICA_INLINE ManyTiles many_tiles(const RowBlock& block) {
  if constexpr (kManyRows) {
    const GemmEpilogue& e = *block.epilogue;
    if (!takes_plain_tiles(block) || block.segment_k > kColumnDepth) return {};
    if (block.residual) {
      if (adds_then_clips(e) && e.residual_stride == block.c_stride)
        return {plain_tiles<PlainFinish::kClip, true, true>, true, false};
      if (block.residual == block.c) return {};
      return {plain_tiles<PlainFinish::kClip, true>, true, true};
    }
    const bool cheap = in_registers(e.activation, kMaxRows);
    const bool down = !cheap || (block.panel_end - block.panel_begin) * block.segment_k > kNearSteps;
    if constexpr (kWithHardSwish)
      if (e.activation == Activation::kHardSwish)
        return {down ? plain_tiles<PlainFinish::kHardSwish, true> : plain_tiles<PlainFinish::kHardSwish>, down};
    return {down ? plain_tiles<PlainFinish::kClip, true> : plain_tiles<PlainFinish::kClip>, down, !cheap};
  } else if constexpr (kManyRuns) {
    const int64_t panels = block.panel_end - block.panel_begin;
    const bool whole = panels % kMainPanels == 0 && block.panel_end * kPanel <= block.n;
    RowBlock highest = block;
    highest.rows = kMaxRows;
    if (whole && in_registers(block.epilogue->activation, kMaxRows)) return {plain_tiles_fn(highest)};
  }
  return {};
}

// What columns fetch: with each panel the next one, and with the last one `then`; null: nothing.
struct ColumnFetch {
  bool panels = false;
  const float* then = nullptr;
};

// Whole panels by row_tiles times the highest tile's rows.
MICA_INLINE void run_whole_panels(const RowBlock& block, const ManyTiles& tiles, int64_t panels, int64_t row_tiles,
                                  const ColumnFetch& fetch) {
  TilePlace place = TilePlace::first_of(block);
  if (!kManyRows || !tiles.down) return tiles.run(block, place, panels / kMainPanels, row_tiles);
  if (!fetch.panels) return tiles.run(block, place, row_tiles, panels);
  place.fetch = place.b + block.panel_stride;
  place.fetch_period = row_tiles;
  place.fetch_near = true;
  const bool follows = fetch.then == place.b + panels * block.panel_stride;
  if (follows) return tiles.run(block, place, row_tiles, panels);
  if (panels > 1) tiles.run(block, place, row_tiles, panels - 1);
  place.fetch = fetch.then;
  if (!fetch.then) place.fetch_period = INT64_MAX;
  tiles.run(block, place, row_tiles, 1);
}

// All of the block's panels by so many rows, their epilogue, and a last panel that is not whole.
__attribute__((noinline)) void run_many_tiles(RowBlock block, const ManyTiles& tiles, int64_t row_tiles,
                                              const ColumnFetch& fetch) {
  const GemmEpilogue& e = *block.epilogue;
  const GemmEpilogue bare{.bias = e.bias};
  const int64_t full = block.n / kPanel, end = full < block.panel_end ? full : block.panel_end;
  const int64_t first = block.panel_begin * kPanel, width = end * kPanel - first, rows = row_tiles * kMaxRows;
  if (width > 0) {
    if (kManyRows && tiles.finishes) block.epilogue = &bare;
    run_whole_panels(block, tiles, end - block.panel_begin, row_tiles, fetch);
    block.epilogue = &e;
    float* const c = block.c + first;
    if (kManyRows && tiles.finishes)
      kActivateRows[static_cast<int>(e.activation)]({c, block.c_stride, c, block.c_stride,
                                                     block.residual ? block.residual + first : nullptr,
                                                     e.residual_stride, e.residual_last, rows, width, e.a, e.b});
    if (e.finish) e.finish(e.finish_context, c, block.c_stride, block.row, block.column + first, rows, width);
  }
  if (!kManyRows || end == block.panel_end) return;
  const float* a = block.segments[0];
  block.segments = &a;
  block.panel_begin = end;
  block.rows = kMaxRows;
  for (int64_t i = 0; i < row_tiles; ++i, pass_rows(block, a, kMaxRows)) run_row_block(block);
}

// Any number of rows of one segment. Those that are the first to read panels that nobody fetches go alone.
__attribute__((noinline)) void run_rows(RowBlock block, const ManyTiles& many, int64_t rows, const ColumnFetch& fetch) {
  const float* a = block.segments[0];
  block.segments = &a;
  while (rows > 0) {
    // Of the greatest height are all but the last tile, or the last two (tile_height).
    const int64_t tiles = (rows + kMaxRows - 1) / kMaxRows, last = rows % kMaxRows;
    int64_t alike = last == 0 || last > kMaxRows / 2 ? rows / kMaxRows : tiles - 2;
    if (many.run && alike > 1 && !block.first_rows) {
      run_many_tiles(block, many, alike, fetch);
      block.rows = kMaxRows;
    } else {
      alike = 1;
      block.rows = tile_height(rows, tiles, kMaxRows);
      run_row_block(block);
    }
    block.first_rows = false;
    const int64_t done = alike * block.rows;
    pass_rows(block, a, done);
    rows -= done;
  }
}

// The same, for which nothing is fetched.
void run_row_blocks(RowBlock block, int64_t rows) { run_rows(block, many_tiles(block), rows, {}); }

// Panels of so many floats are finished, and passed by the last few rows, while they are near.
constexpr int64_t kGroupFloats = 1 << 14;
static_assert(kColumnDepth * kPanel <= kGroupFloats);

// The same by panels that come from beyond the first-level cache, `at_once` rows at a time; `next`: what is read behind
// them, or null.
void run_rows_by_panels(RowBlock block, const ManyTiles& many, int64_t rows, int64_t at_once, const float* next) {
  const float* a = block.segments[0];
  block.segments = &a;
  const int64_t begin = block.panel_begin, end = block.panel_end, fit = kGroupFloats / (block.segment_k * kPanel);
  const int64_t parts = (rows + at_once - 1) / at_once;
  const int64_t each = ((rows + parts - 1) / parts + kMaxRows - 1) / kMaxRows * kMaxRows;
  const auto panel = [&](int64_t i) { return block.b + i * block.panel_stride; };
  for (int64_t left = rows, part; left > 0; left -= part) {
    part = left < each + kMaxRows ? left : each;  // no tile of few rows alone
    const float* const behind = left > part ? panel(begin) : next;
    for (block.panel_begin = begin; block.panel_begin < end; block.panel_begin = block.panel_end) {
      block.panel_end = end - block.panel_begin > fit ? block.panel_begin + fit : end;
      run_rows(block, many, part, {.panels = true, .then = block.panel_end < end ? panel(block.panel_end) : behind});
    }
    pass_rows(block, a, part);
  }
}

}  // namespace mica::MICA_ISA
