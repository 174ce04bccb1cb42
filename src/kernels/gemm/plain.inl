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

alignas(64) inline constexpr float kNoBias[kMainPanels * kPanel] = {};

// `count` tiles side by side; `at` goes on to what lies beside them.
template <PlainFinish kFinish>
__attribute__((noinline)) void plain_tiles(const RowBlock& block, TilePlace& at, int64_t count) {
  constexpr int R = kMaxRows, P = kMainPanels, V = P * kPanelVectors;
  constexpr bool kTurns = takes_turns(R, V);
  const GemmEpilogue& e = *block.epilogue;
  const int64_t panel_stride = block.panel_stride, a_stride = block.a_stride, c_stride = at.c_stride;
  const bool clips = e.activation == Activation::kClip;
  const F32 lo = set1(clips ? e.a : -__builtin_inff()), hi = set1(clips ? e.b : __builtin_inff());
  const float *first = block.segments[0], *last = first + block.segment_k - 1;
  const int64_t bias_step = at.bias ? P * kPanel : 0;
  const float* const last_line = at.end - P * panel_stride;
  const float *b = at.b, *bias = at.bias ? at.bias : kNoBias;
  float* c = at.c;
  TileFetch fetch(at);
  Turns turns(at, a_stride);
  const auto load_row = [&](F32(&to)[V], const float* panel) __attribute__((always_inline)) {
    MICA_UNROLL for (int j = 0; j < V; ++j) to[j] = panel_vector(panel, panel_stride, j);
  };
  F32 sum[R][V];
  MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] = load(bias + j * kLanes);
  for (; count > 0; --count) {
    const float* panel = b;
    fetch.wait = at.fetch_period - 1;
    F32 row[V];
    RowPointers<R> a(kTurns ? last : first, a_stride);
    if constexpr (kTurns) {
      take_turns(sum, turns, first, panel, block.segment_k - 1);
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
    if (count > 1) bias += bias_step;
    float* out = c;
    MICA_UNROLL for (int i = 0; i < R; ++i) {
      const F32 value = set1(a.row(i)[0]);
      MICA_UNROLL for (int j = 0; j < V; ++j)
          store(out + j * kLanes, finish_plain<kFinish>(fma(value, row[j], sum[i][j]), lo, hi));
      out += c_stride;
      // Keeps rows apart, and the next tile's bias in memory: registers are all taken.
      asm volatile("" : "+r"(out), "+r"(bias) : : "memory");
      MICA_UNROLL for (int j = 0; j < V; ++j) sum[i][j] = load(bias + j * kLanes);
    }
    b += P * panel_stride;
    c += P * kPanel;
  }
  at.b = b;
  at.c = c;
  at.bias = bias_step ? bias + bias_step : nullptr;
  at.fetch = kTurns ? turns.next : fetch.next;
}

using PlainTilesFn = void (*)(const RowBlock&, TilePlace&, int64_t);

// Null where the block's tiles are not of that kind.
MICA_INLINE PlainTilesFn plain_tiles_fn(const RowBlock& block) {
  if constexpr (kLanes >= 8) {
    const GemmEpilogue& e = *block.epilogue;
    const bool whole = block.first_k && block.last_k && block.segment_count == 1 && block.segment_k > 0;
    if (block.rows != kMaxRows || !whole || block.residual || e.finish) return nullptr;
    if (e.activation == Activation::kClip && e.b < __builtin_inff()) return plain_tiles<PlainFinish::kClip>;
    if constexpr (kWithHardSwish)
      if (e.activation == Activation::kHardSwish) return plain_tiles<PlainFinish::kHardSwish>;
    return plain_tiles<kPlainLow>;
  }
  return nullptr;
}

}  // namespace mica::MICA_ISA
