// The highest tiles of a whole product whose rows are one run of memory each and whose epilogue is a bias and an
// activation: a clip or hard-swish at once, others are left to the caller. Included by tile.inl.
//
// A tile's sums all become ready at its end. Stores right behind each other then fill the queue in which they wait, and
// nothing behind them begins: 70 to 90 cycles from tile to tile, which 16 steps of k (224 cycles) feel. Here each row
// is finished and stored between the multiply-adds of the last step of k: 40 to 50 cycles.
#pragma once
#include "kernels/gemm/activation.inl"
#include "kernels/gemm/turn.inl"

namespace mica::MICA_ISA {

enum class PlainFinish { kLow, kClip, kHardSwish };

// Without an upper end. Beside twelve sums a minimum is not worth code of its own.
inline constexpr PlainFinish kPlainLow = kLanes == kPanel ? PlainFinish::kLow : PlainFinish::kClip;

template <PlainFinish kFinish>
MICA_INLINE F32 finish_plain(F32 sum, F32 lo, F32 hi) {
  if constexpr (kFinish == PlainFinish::kHardSwish) return activate<Activation::kHardSwish>(sum, 0, 0);
  const F32 low = max_fast(lo, sum);
  return kFinish == PlainFinish::kClip ? min_fast(hi, low) : low;
}

// Whether columns of tiles are calls of their own, too. A tile of few rows reads its panel at the speed of the
// second-level cache where that is not in the first one; and a call costs as many instructions as some steps of k.
inline constexpr bool kManyRows = kMainTurns;
// Whether rows of such tiles are one call where nothing is fetched and nothing is left of the columns.
inline constexpr bool kManyRuns = kManyRows || kLanes == kPanel;

alignas(64) inline constexpr float kNoBias[2 * kPanel] = {};  // of as many panels as a tile has

// Where a tile of R rows lies, and where the next one does: beside it and then at the beginning of the rows below, or
// with kDown below it and then at the top of the columns beside.
template <int R, bool kDown>
struct PlainCursor {
  MICA_INLINE bool next(const RowBlock& block, const TilePlace& at, int64_t count) {
    const int64_t below = R * block.a_stride, c_below = R * at.c_stride, beside = kMainPanels * block.panel_stride;
    if (--left > 0) {
      if constexpr (kDown)
        a += below;
      else
        b += beside;
      c += kDown ? c_below : kMainPanels * kPanel;
      return true;
    }
    if (!kManyRuns || --runs <= 0) return false;
    left = count;
    if constexpr (kDown) {
      a = block.segments[0];
      b += beside;
    } else {
      a += below;
      b = at.b;
    }
    c = first += kDown ? kMainPanels * kPanel : c_below;
    return true;
  }

  const float *a, *b;
  float *c, *first;
  int64_t left, runs;
};

// Where a tile's rows go, and what is done to them.
struct PlainEnd {
  float* out;
  const float* plus;  // a residual, or null
  int64_t stride;     // of both
  F32 lo, hi;
};

// The last step of k, row by row; the sums become the next tile's bias.
template <PlainFinish kFinish, bool kResidual, int R, int V>
MICA_INLINE void end_plain(F32 (&sum)[R][V], const F32 (&row)[V], const RowPointers<R>& a, PlainEnd to,
                           const float*& bias) {
  MICA_UNROLL for (int i = 0; i < R; ++i) {
    const F32 value = set1(a.row(i)[0]);
    MICA_UNROLL for (int j = 0; j < V; ++j) {
      F32 x = fma(value, row[j], sum[i][j]);
      if constexpr (kResidual) x = add(x, load(to.plus + j * kLanes));
      store(to.out + j * kLanes, finish_plain<kFinish>(x, to.lo, to.hi));
    }
    to.out += to.stride;
    if constexpr (kResidual) to.plus += to.stride;
    // Keeps rows apart, and the next tile's bias in memory: registers are all taken.
    asm volatile("" : "+r"(to.out), "+r"(bias) : : "memory");
    MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] = load(bias + j * kLanes);
  }
}

// `runs` runs of `count` tiles of R rows and V vectors: rows of tiles side by side or, with kDown, columns of tiles
// below each other; `at` goes on to what lies beside them. Most tiles are the highest ones; others end half a panel
// early (ends.inl). kResidual: a residual with C's stride is added before the clip.
template <PlainFinish kFinish, bool kDown = false, bool kResidual = false, int R = kMaxRows,
          int V = kMainPanels* kPanelVectors>
__attribute__((noinline)) void plain_tiles(const RowBlock& block, TilePlace& at, int64_t count, int64_t runs) {
  constexpr int P = (V + kPanelVectors - 1) / kPanelVectors;
  const GemmEpilogue& e = *block.epilogue;
  const int64_t panel_stride = block.panel_stride, a_stride = block.a_stride, c_stride = at.c_stride;
  const bool clips = e.activation == Activation::kClip;
  const F32 lo = set1(clips ? e.a : -__builtin_inff()), hi = set1(clips ? e.b : __builtin_inff());
  const int64_t steps = block.segment_k - 1;  // before the last one
  const int64_t bias_step = at.bias ? P * kPanel : 0;
  const float* const last_line = at.end - P * panel_stride;
  const float *const first_bias = at.bias ? at.bias : kNoBias, *bias = first_bias;
  TileFetch fetch(at);
  Turns turns(at, a_stride, panel_stride);
  const auto load_row = [&](F32(&to)[V], const float* panel) __attribute__((always_inline)) {
    MICA_UNROLL for (int j = 0; j < V; ++j) to[j] = panel_vector(panel, panel_stride, j);
  };
  F32 sum[R][V];
  MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] = load(bias + j * kLanes);
  PlainCursor<R, kDown> tile{block.segments[0], at.b, at.c, at.c, count, runs};
  do {
    const float *panel = tile.b, *last = tile.a + steps;
    fetch.wait = at.fetch_period - 1;
    // In a column, lines of C are far apart, and no processor foresees them.
    if constexpr (kDown) MICA_UNROLL for (int i = 0; i < R; ++i) prefetch(tile.c + i * c_stride);
    F32 row[V];
    RowPointers<R> a(kMainTurns ? last : tile.a, a_stride);
    if constexpr (kMainTurns) {
      take_turns(sum, turns, tile.a, panel, steps);
    } else {
      for (; a.at[0] < last; a.advance()) {
        load_row(row, panel);
        fetch.step(at);
        prefetch_panels<P>(panel, panel_stride, last_line);
        panel += kPanel;
        MICA_UNROLL for (int i = 0; i < R; ++i) {
          const F32 value = set1(a.row(i)[0]);
          MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] = fma(value, row[j], sum[i][j]);
        }
      }
    }
    load_row(row, panel);
    if constexpr (kDown) {
      if (tile.left == 1) bias = tile.runs > 1 ? bias + bias_step : first_bias;
    } else {
      bias = tile.left > 1 ? bias + bias_step : first_bias;
    }
    end_plain<kFinish, kResidual>(
        sum, row, a, {tile.c, kResidual ? at.residual + (tile.c - at.c) : nullptr, c_stride, lo, hi}, bias);
  } while (tile.next(block, at, count));
  const int64_t panels = (kDown ? runs : count) * P;
  at.b += panels * panel_stride;
  at.pass_columns(panels * kPanel);
  at.fetch = kMainTurns ? turns.next : fetch.next;
}

using PlainTilesFn = void (*)(const RowBlock&, TilePlace&, int64_t, int64_t);

MICA_INLINE bool takes_plain_tiles(const RowBlock& block) {
  return block.first_k && block.last_k && block.segment_count == 1 && block.segment_k > 0;
}

// Of the highest tiles side by side. Null where the block's tiles are not of that kind.
MICA_INLINE PlainTilesFn plain_tiles_fn(const RowBlock& block) {
  if constexpr (kLanes >= 8) {
    const GemmEpilogue& e = *block.epilogue;
    if (block.rows != kMaxRows || !takes_plain_tiles(block) || block.residual) return nullptr;
    if (e.activation == Activation::kClip && e.b < __builtin_inff()) return plain_tiles<PlainFinish::kClip>;
    if constexpr (kWithHardSwish)
      if (e.activation == Activation::kHardSwish) return plain_tiles<PlainFinish::kHardSwish>;
    return plain_tiles<kPlainLow>;
  }
  return nullptr;
}

}  // namespace mica::MICA_ISA
