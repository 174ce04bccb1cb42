// The register tile: R rows x P panels of sums, each one chain over k. Included by gemm.isa.cc.
#pragma once
#include "kernels/gemm/plain.inl"

namespace mica::MICA_ISA {

// Whether a call makes several tiles. A small tile is over so soon that calls show; a large one hides them, and its
// code is better without the loop.
inline constexpr bool kManyTiles = kPanelVectors > 1;

// One row reads all of its panels from beyond the first-level cache, which gives a line a cycle at best: as many sums
// as a multiply-add takes cycles keep pace with lines that are one vector.
constexpr int wide_panels(int rows) {
  const int vectors = rows == 1 && kLanes < kPanel ? 8 : rows <= 3 ? 4 : 0;
  const int panels = vectors / kPanelVectors;
  return panels > kMainPanels ? panels : kMainPanels;
}

// Whether a tile that takes single steps asks for its panels 4 KiB ahead; loads have ports to spare beside wide
// multiply-adds. Few rows of wide vectors are loads of panels and little else, so that the processor itself begins
// those of the next 10 to 20 steps, and follows the streams: what is asked for takes room from these.
constexpr bool asks_for_panels(int rows) { return (rows > 3) == (kLanes >= 8); }

// Whether a tile that does not fetch may reach beyond the last column: where masks make parts of vectors as cheap as
// whole ones. The highest tile is worth the code.
constexpr bool may_reach_beyond(int rows) { return kLanes == kPanel && rows == kMaxRows; }

// Whether there are tiles for a last panel of which no more than half lies before the last column: half of its vectors,
// or of its one vector. The highest tile is worth the code, where tiles are more than a few rows.
constexpr bool has_half(int rows) { return kMaxRows > 3 && rows == kMaxRows; }

// Whether there is a tile of the last whole panel and half a panel behind it.
constexpr bool has_both(int rows) { return kLanes == 8 && (rows == kRowsOfBoth || rows == kRowsOfBoth - 1); }

// Whether it costs little while the sums are in registers. A cheap function is worth that in the highest tile only.
constexpr bool in_registers(Activation a, int rows) {
  return is_plain(a) || (kWithHardSwish && a == Activation::kHardSwish && rows == kMaxRows);
}

// Whether what follows the sums is a residual, if any, and then a clip at most.
MICA_INLINE bool adds_then_clips(const GemmEpilogue& e) {
  return is_plain(e.activation) && (e.activation == Activation::kNone || !e.residual_last);
}

// The first terms: what C holds, or the bias. kPart: the tile may reach beyond the last column.
template <bool kPart, int R, int V>
MICA_INLINE void begin_sums(F32 (&sum)[R][V], const RowBlock& block, const TilePlace& at) {
  if (!block.first_k) {
    MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] =
        load(at.c + i * at.c_stride + j * kLanes);
    return;
  }
  MICA_UNROLL for (int j = 0; j < V; ++j) sum[0][j] = !at.bias ? zero()
                                                      : kPart
                                                          ? load_partial(at.bias + j * kLanes, width_of(at.columns, j))
                                                          : load(at.bias + j * kLanes);
  MICA_UNROLL for (int i = 1; i < R; ++i) MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] = sum[0][j];
}

// What is left of C's rows of sums that reach beyond the last column.
template <int R, int V>
MICA_INLINE void store_part(const F32 (&sum)[R][V], const TilePlace& at) {
  MICA_UNROLL for (int j = 0; j < V; ++j) {
    const int width = width_of(at.columns, j);
    MICA_UNROLL for (int i = 0; i < R; ++i) store_partial(at.c + i * at.c_stride + j * kLanes, sum[i][j], width);
  }
}

// kPart: the rows may reach beyond the last column.
template <bool kPart, int R, int V>
MICA_INLINE void add_residual(F32 (&sum)[R][V], const TilePlace& at, int64_t stride) {
  MICA_UNROLL for (int j = 0; j < V; ++j) {
    const float* from = at.residual + j * kLanes;
    const int width = kPart ? width_of(at.columns, j) : 0;
    MICA_UNROLL for (int i = 0; i < R; ++i, from += stride) sum[i][j] =
        add(sum[i][j], kPart ? load_partial(from, width) : load(from));
  }
}

// That part of the epilogue. kTile: the tile's rows, of which these are some.
template <bool kPart, int R, int V, int kTile = R>
MICA_INLINE void finish_sums(F32 (&sum)[R][V], const RowBlock& block, const TilePlace& at) {
  const GemmEpilogue& e = *block.epilogue;
  for (bool last = false;; last = true) {  // one copy of the residual's code, before the activation and behind it
    if (at.residual && e.residual_last == last) add_residual<kPart>(sum, at, e.residual_stride);
    if (last) return;
    if (e.activation == Activation::kClip) {
      const F32 lo = set1(e.a), hi = set1(e.b);
      MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] =
          max_fast(lo, sum[i][j]);
      if (e.b < __builtin_inff())
        MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] =
            min_fast(hi, sum[i][j]);
    }
    if constexpr (in_registers(Activation::kHardSwish, kTile)) {
      if (e.activation == Activation::kHardSwish)
        MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] =
            activate<Activation::kHardSwish>(sum[i][j], e.a, e.b);
    }
  }
}

// Two vectors' lower halves as one.
MICA_INLINE F32 lower_halves(F32 a, F32 b) { return select(first_lanes(kLanes / 2), a, exchange<kLanes / 2>(b)); }

// The last vectors of neighbouring rows, of which the lower halves count, as one vector for each two rows, and back.
template <int R, int V>
MICA_INLINE void pair_rows(const F32 (&sum)[R][V], F32 (&pair)[R / 2]) {
  MICA_UNROLL for (int i = 0; i + 1 < R; i += 2) pair[i / 2] = lower_halves(sum[i][V - 1], sum[i + 1][V - 1]);
}
template <int R, int V>
MICA_INLINE void part_rows(const F32 (&pair)[R / 2], F32 (&sum)[R][V]) {
  MICA_UNROLL for (int i = 0; i < R; ++i) sum[i][V - 1] = i % 2 ? exchange<kLanes / 2>(pair[i / 2]) : pair[i / 2];
}

// `count` tiles side by side; `at` goes on to what lies beside them. Main tiles of more than a few rows also fetch what
// `at` tells. kHalf: no more than the lower half of the last panel lies before the last column. The upper half's
// vectors are left out; where a panel is one vector, two rows' lower halves share one.
template <int R, int P, bool kHalf = false>
__attribute__((noinline)) void tile(const RowBlock& block, TilePlace& at, bool finish, int64_t count) {
  constexpr bool kPaired = kHalf && kPanelVectors == 1;
  static_assert(!kPaired || R % 2 == 0);
  constexpr int V = P * kPanelVectors - (kHalf ? kPanelVectors / 2 : 0), kWhole = kPaired ? V - 1 : V;
  constexpr bool kFetch = R > 3 && P == kMainPanels, kPart = may_reach_beyond(R), kTurns = takes_turns(R, V);
  const int64_t panel_stride = block.panel_stride, a_stride = block.a_stride;
  const float* const last_line = at.end - P * panel_stride;
  Turns turns(at, a_stride, panel_stride);
  for (; count > 0; --count) {
    F32 sum[R][V], pair[R / 2 + !kPaired];
    begin_sums<kPart>(sum, block, at);
    if constexpr (kPaired) pair_rows(sum, pair);
    const float* b = at.b;
    TileFetch fetch(at);
    for (int64_t s = 0; s < block.segment_count; ++s) {
      if constexpr (kTurns) {
        take_turns(sum, turns, block.segments[s] + block.a_first, b, block.segment_k);
        continue;
      }
      RowPointers<R> a(block.segments[s] + block.a_first, a_stride);
      const auto step = [&]() __attribute__((always_inline)) {
        F32 row[V];  // one row reads each vector once, where it is multiplied
        if constexpr (R > 1) MICA_UNROLL for (int j = 0; j < V; ++j) row[j] = panel_vector(b, panel_stride, j);
        if (kPaired) row[V - 1] = lower_halves(row[V - 1], row[V - 1]);
        if constexpr (kFetch) fetch.step(at);
        if constexpr (asks_for_panels(R)) prefetch_panels<P>(b, panel_stride, last_line);
        MICA_UNROLL for (int i = 0; i < R; ++i) {
          const F32 value = set1(a.row(i)[0]);
          MICA_UNROLL for (int j = 0; j < kWhole; ++j) sum[i][j] =
              fma(value, R > 1 ? row[j] : panel_vector(b, panel_stride, j), sum[i][j]);
          if (kPaired && i % 2)
            pair[i / 2] = fma(select(first_lanes(kLanes / 2), set1(a.row(i - 1)[0]), value), row[V - 1], pair[i / 2]);
        }
        b += kPanel;
        a.advance();
      };
      const float* const end = a.at[0] + block.segment_k;
      if constexpr (R == 1) {  // few turns: the processor foresees the last one, and goes on to the next panels
        while (end - a.at[0] >= 8) MICA_UNROLL for (int u = 0; u < 8; ++u) step();
      }
      while (a.at[0] < end) step();
    }
    if constexpr (kPaired) part_rows(pair, sum);
    const bool part = kPart && at.columns < P * kPanel;
    if (finish) finish_sums<kPart, R, V>(sum, block, at);
    if (part)
      store_part<R, V>(sum, at);
    else
      MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int j = 0; j < V; ++j)
          store(at.c + i * at.c_stride + j * kLanes, sum[i][j]);
    at.b += P * panel_stride;
    at.pass_columns(P * kPanel);
    at.fetch = kTurns ? turns.next : fetch.next;
  }
}

// A tile of one or two panels with half of a panel less, of half vectors alone, as many rows at a time as there are
// registers for. Two rows in one vector save multiply-adds, but not where their selection takes the multiply-adds' own
// units, as where these are half as wide as vectors; nor in one panel, whose multiply-adds take less time than loads.
template <int R, int P>
__attribute__((noinline)) void tile_of_halves(const RowBlock& block, TilePlace& at, bool finish, int64_t) {
  constexpr int kRows = R / P, kHalves = 2 * P - 1;
  constexpr bool kFetch = P == kMainPanels;
  static_assert(R % P == 0);
  const int64_t panel_stride = block.panel_stride;
  const float* const last_line = at.end - P * panel_stride;
  TileFetch fetch(at);
  TilePlace part = at;
  for (int64_t first = 0; first < R; first += kRows) {
    F32 sum[kRows][P];
    begin_sums<true>(sum, block, part);
    HalfF32 half[kRows][kHalves];
    MICA_UNROLL for (int i = 0; i < kRows; ++i) MICA_UNROLL for (int h = 0; h < kHalves; ++h) half[i][h] =
        h % 2 ? upper(sum[i][h / 2]) : lower(sum[i][h / 2]);
    const float* b = at.b;
    for (int64_t s = 0; s < block.segment_count; ++s) {
      RowPointers<kRows> a(block.segments[s] + block.a_first + first * block.a_stride, block.a_stride);
      for (const float* end = a.at[0] + block.segment_k; a.at[0] < end; a.advance()) {
        HalfF32 row[kHalves];
        MICA_UNROLL for (int h = 0; h < kHalves; ++h) row[h] =
            load_half(b + h / 2 * panel_stride + h % 2 * (kLanes / 2));
        if (kFetch && first == 0) {
          fetch.step(at);
          prefetch_panels<P>(b, panel_stride, last_line);
        }
        MICA_UNROLL for (int i = 0; i < kRows; ++i) {
          const HalfF32 value = set1_half(a.row(i)[0]);
          MICA_UNROLL for (int h = 0; h < kHalves; ++h) half[i][h] = fma(value, row[h], half[i][h]);
        }
        b += kPanel;
      }
    }
    MICA_UNROLL for (int i = 0; i < kRows; ++i) MICA_UNROLL for (int j = 0; j < P; ++j) sum[i][j] =
        join(half[i][2 * j], half[i][2 * j + 1 < kHalves ? 2 * j + 1 : 2 * j]);
    if (finish) finish_sums<true, kRows, P, R>(sum, block, part);
    store_part<kRows, P>(sum, part);
    part.c += kRows * at.c_stride;
    if (part.residual) part.residual += kRows * block.epilogue->residual_stride;
  }
  at.b += P * panel_stride;
  at.pass_columns(P * kPanel);
  at.fetch = fetch.next;
}

using TileFn = void (*)(const RowBlock&, TilePlace&, bool, int64_t);

// The main tile and the single-panel one with half of a panel less.
struct HalfTiles {
  TileFn main = nullptr, single = nullptr;
};

// tiles[r - 1] for r rows: the widest, the main, the single-panel one, those with half of a panel less: [1] where half
// vectors take half of the time, and that of a panel and a half (has_both).
struct TileRow {
  TileFn wide, main, single;
  HalfTiles half[2];
  TileFn both = nullptr;
};
// Tiles of 9 to 12 rows are two of about half as many: each still hides the latency of its multiply-adds, and their
// code would be a seventh of all products'. Few blocks have such heights.
constexpr bool has_tile(int rows) { return rows <= 8 || rows >= kMaxRows - 1; }

template <int R>
constexpr void fill_tiles(TileRow* rows) {
  if constexpr (has_tile(R)) rows[R - 1] = {tile<R, wide_panels(R)>, tile<R, kMainPanels>, tile<R, 1>};
  if constexpr (has_half(R) && kPanelVectors > 1) {
    rows[R - 1].half[0] = rows[R - 1].half[1] = {tile<R, kMainPanels, true>, tile<R, 1, true>};
  } else if constexpr (has_half(R)) {
    const TileFn single = tile_of_halves<R, 1>;
    rows[R - 1].half[0] = {tile<R, kMainPanels, true>, single};
    rows[R - 1].half[1] = {tile_of_halves<R, kMainPanels>, single};
  }
  if constexpr (has_both(R)) rows[R - 1].both = tile<R, 2, true>;
  if constexpr (R > 1) fill_tiles<R - 1>(rows);
}
struct Tiles {
  TileRow rows[kMaxRows] = {};
  constexpr Tiles() { fill_tiles<kMaxRows>(rows); }
};
constexpr Tiles kTiles;

// A tile that reaches beyond the last column, or whose activation is worth a loop of its own, is made in a buffer.
constexpr int buffer_floats() {
  int most = 0;
  for (int r = 1; r <= kMaxRows; ++r) {
    const int panels = has_both(r) ? 2 : wide_panels(r);
    if (r * panels * kPanel > most) most = r * panels * kPanel;
  }
  return most;
}

// The bias of a tile that may reach beyond the last column, or zeros; `bias`: of its first column, or null.
MICA_INLINE void whole_bias(const float* bias, int64_t columns, int64_t width, float* out) {
  for (int64_t j = 0; j < width; ++j) out[j] = bias && j < columns ? bias[j] : 0.0f;
}

__attribute__((noinline)) void buffered_tile(const RowBlock& block, TileFn fn, int64_t panel, int panels,
                                             TilePlace& place) {
  alignas(64) float buffer[buffer_floats()];
  alignas(64) float bias[wide_panels(1) * kPanel];
  const GemmEpilogue& e = *block.epilogue;
  const int64_t first = panel * kPanel, width = panels * kPanel;
  const int64_t columns = block.n - first < width ? block.n - first : width;
  whole_bias(e.bias ? e.bias + first : nullptr, columns, width, bias);
  if (!block.first_k)
    for (int i = 0; i < block.rows; ++i)
      for (int64_t j = 0; j < columns; ++j) buffer[i * width + j] = block.c[i * block.c_stride + first + j];
  TilePlace inside = {place.b,         buffer, width, bias, nullptr, place.end, width, place.fetch, place.fetch_period,
                      place.fetch_near};
  fn(block, inside, false, 1);
  place.b = inside.b;
  place.fetch = inside.fetch;
  place.pass_columns(width);
  const bool finish = block.last_k;
  const TileOut out = {buffer,
                       width,
                       block.c + first,
                       block.c_stride,
                       finish && block.residual ? block.residual + first : nullptr,
                       e.residual_stride,
                       e.residual_last,
                       block.rows,
                       columns,
                       e.a,
                       e.b};
  kActivateRows[finish ? static_cast<int>(e.activation) : 0](out);
}

// What a tile of the main width and those after it fetch: one run after the other.
struct FetchCursor {
  const RowBlock& block;
  int run = 0;
  int64_t done = 0;

  // Gives the place what is next, and returns how many of `tiles` tiles fetch it, or have nothing to fetch.
  int64_t take(int64_t tiles, TilePlace& place) {
    if (kMainTurns && block.first_rows) return take_own(tiles, place, block.panel_stride);
    for (; run < block.fetches && done == block.fetch[run].tiles; ++run) done = 0;
    if (run == block.fetches) {
      place.fetch_period = INT64_MAX;
      return tiles;
    }
    const FetchRun& from = block.fetch[run];
    if (done == 0) place.fetch = from.at;
    place.fetch_period = from.period;
    place.fetch_near = from.near;
    const int64_t taken = from.tiles - done < tiles ? from.tiles - done : tiles;
    done += taken;
    return taken;
  }

  // The tiles' own panels, each line kAhead before it is read, but none behind the last one.
  static int64_t take_own(int64_t tiles, TilePlace& place, int64_t panel_stride) {
    const int64_t asked = (place.end - place.b - kAhead) / (kMainPanels * panel_stride) - 1;
    place.fetch = place.b + kAhead;
    place.fetch_period = asked > 0 ? 1 : INT64_MAX;
    place.fetch_near = true;
    return asked > 0 && asked < tiles ? asked : tiles;
  }
};

// So many tiles have their activation in a pass behind them, from the first-level cache.
constexpr int64_t kActivatedTiles = 4;

// The whole tiles of a block before panel `end` that are plain; returns the first panel behind them.
MICA_INLINE int64_t run_plain_tiles(const RowBlock& block, int64_t end, TilePlace& place, FetchCursor& fetches) {
  int64_t panel = block.panel_begin;
  const PlainTilesFn fn = plain_tiles_fn(block);
  if (!fn) return panel;
  const GemmEpilogue& e = *block.epilogue;
  const bool activates = !in_registers(e.activation, kMaxRows);
  while (panel + kMainPanels <= end) {
    const int64_t tiles = (end - panel) / kMainPanels;
    const int64_t taken = fetches.take(activates && tiles > kActivatedTiles ? kActivatedTiles : tiles, place);
    const int64_t columns = taken * kMainPanels * kPanel;
    float* c = place.c;
    fn(block, place, taken, 1);
    if (activates)
      kActivateRows[static_cast<int>(e.activation)](
          {c, block.c_stride, c, block.c_stride, nullptr, 0, false, block.rows, columns, e.a, e.b});
    panel += taken * kMainPanels;
  }
  return panel;
}

// All panels of the block's range against its rows, for which there is a tile; panel_begin to panel_end from the widest
// tile to the narrowest.
__attribute__((noinline)) void run_tiles(const RowBlock& block) {
  const TileRow& fns = kTiles.rows[block.rows - 1];
  const HalfTiles& halves = fns.half[block.half_units];
  const GemmEpilogue& e = *block.epilogue;
  const int wide = wide_panels(block.rows);
  const bool simple = !block.last_k || in_registers(e.activation, block.rows);
  TilePlace place = TilePlace::first_of(block);
  FetchCursor fetches{block};
  const int64_t full = block.n / kPanel;  // panels without a column beyond the last one
  // Panels before `whole` are written in place, several tiles at a call.
  const bool part = (may_reach_beyond(block.rows) && block.first_k) || full >= block.panel_end;
  const int64_t beyond = block.panel_end * kPanel - block.n;
  const bool has_end = has_both(block.rows) && beyond >= kPanel / 2 && block.panel_end - block.panel_begin > 1;
  const bool halved = (has_half(block.rows) && kPanelVectors > 1) || has_end;
  const bool ends_at_half = halved && block.n - full * kPanel == kPanel / 2;
  const int64_t whole = !simple ? 0 : part || ends_at_half ? block.panel_end : full;
  // A half shares its tile with a whole panel: of an odd number, the one before these stands alone.
  const int64_t alone = block.panel_end - kMainPanels - 1;
  const bool parts = halves.main && beyond >= kPanel / 2 && (block.panel_end - block.panel_begin) % kMainPanels != 0;
  const int64_t plain_end = parts ? alone : full < block.panel_end ? full : block.panel_end;
  const int64_t both = has_end ? block.panel_end - 2 : block.panel_end;
  for (int64_t p = run_plain_tiles(block, plain_end, place, fetches); p < block.panel_end;) {
    const int64_t end = p < both ? both : block.panel_end, left = end - p, column = p * kPanel;
    const bool is_both = p == both;
    const int panels = is_both               ? 2
                       : parts && p == alone ? 1
                       : left >= wide        ? wide
                       : left >= kMainPanels ? kMainPanels
                                             : 1;
    const bool in_place = p + panels <= whole;
    const bool half = halves.main && (column + panels * kPanel) - block.n >= kPanel / 2;
    const int64_t whole_end = full < whole ? full : whole;
    int64_t tiles =
        kManyTiles && in_place && !half && !is_both ? ((whole_end < end ? whole_end : end) - p) / panels : 1;
    if (panels == kMainPanels || is_both) tiles = fetches.take(tiles, place);
    const TileFn fn = is_both                                ? fns.both
                      : panels == wide && wide > kMainPanels ? fns.wide
                      : panels == kMainPanels                ? (half ? halves.main : fns.main)
                                                             : (half ? halves.single : fns.single);
    if (in_place)
      fn(block, place, block.last_k, tiles);
    else
      buffered_tile(block, fn, p, panels, place);
    p += panels * tiles;
  }
  if (e.finish && block.last_k) {
    const int64_t first = block.panel_begin * kPanel, end = full < block.panel_end ? block.n : block.panel_end * kPanel;
    e.finish(e.finish_context, block.c + first, block.c_stride, block.row, block.column + first, block.rows,
             end - first);
  }
}

// On to the rows of C below `rows` of the block's.
MICA_INLINE void pass_rows(RowBlock& block, int64_t rows) {
  block.c += rows * block.c_stride;
  if (block.residual) block.residual += rows * block.epilogue->residual_stride;
  block.row += rows;
}

// All panels against any number of rows up to kMaxRows.
void run_row_block(const RowBlock& block) {
  if (has_tile(block.rows)) return run_tiles(block);
  RowBlock part = block;
  part.rows = (block.rows + 1) / 2;
  run_tiles(part);
  part.a_first += part.rows * block.a_stride;
  pass_rows(part, part.rows);
  part.rows = block.rows - part.rows;
  part.fetches = 0;
  part.first_rows = false;
  run_tiles(part);
}

// Those of A, too; `a` is the block's one segment.
MICA_INLINE void pass_rows(RowBlock& block, const float*& a, int64_t rows) {
  a += rows * block.a_stride;
  pass_rows(block, rows);
}

}  // namespace mica::MICA_ISA
