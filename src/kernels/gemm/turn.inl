// Four steps of k in one turn of a tile's loop. Included by tile.inl and plain.inl.
//
// A step by itself takes eight instructions beside its loads and multiply-adds. Where these are twenty, as with AVX2,
// that shows in processors that begin four instructions a cycle, and in those whose core another thread shares: there
// tiles are 7 to 25 % faster by turns. What is left of k, at most three steps, asks for nothing ahead.
#pragma once
#include "kernels/gemm/tile_parts.inl"

namespace mica::MICA_ISA {

inline constexpr int kTurnSteps = 4;

#if defined(__AVX2__) && !defined(__AVX512F__)
constexpr bool takes_turns(int rows, int vectors) { return rows > 3 && vectors <= 2; }

// One row's multiply-adds of the step kStep of k; the row is `rows` + kRow strides. By hand: sums, operands and
// addresses take all registers but one, and of steps side by side compilers keep some sums in memory.
template <int kRow, int kStep>
MICA_INLINE void add_row(F32 (&sum)[2], const float* rows, int64_t row_bytes, const F32 (&b)[2]) {
  F32 x, s0 = sum[0], s1 = sum[1];
#define MICA_ADD_ROW(place)                                                                                        \
  asm("vbroadcastss %c[step](" place "), %[x]\n\tvfmadd231ps %[b0], %[x], %[s0]\n\tvfmadd231ps %[b1], %[x], %[s1]" \
      : [s0] "+x"(s0), [s1] "+x"(s1), [x] "=&x"(x)                                                                 \
      : [b0] "x"(b[0]), [b1] "x"(b[1]), [rows] "r"(rows), [bytes] "r"(row_bytes), [row] "i"(kRow),                 \
        [step] "i"(kStep * sizeof(float))                                                                          \
      : "memory")
  if constexpr (kRow == 0)
    MICA_ADD_ROW("%[rows]");
  else
    MICA_ADD_ROW("%[rows], %[bytes], %c[row]");
#undef MICA_ADD_ROW
  sum[0] = s0;
  sum[1] = s1;
}
template <int kRow, int kStep>
MICA_INLINE void add_row(F32 (&sum)[1], const float* rows, int64_t row_bytes, const F32 (&b)[1]) {
  const float* const row = rows + kRow * row_bytes / static_cast<int64_t>(sizeof(float));
  sum[0] = fma(set1(row[kStep]), b[0], sum[0]);
}

template <int kStep, int kRow = 0, int R, int V>
MICA_INLINE void add_step(F32 (&sum)[R][V], const RowPointers<R>& a, int64_t row_bytes, const F32 (&b)[V]) {
  constexpr int kRows = RowPointers<R>::kRows;
  add_row<kRow % kRows, kStep>(sum[kRow], a.at[kRow / kRows], row_bytes, b);
  if constexpr (kRow + 1 < R) add_step<kStep, kRow + 1>(sum, a, row_bytes, b);
}

// `ahead`: from a step's line to the one to ask for.
template <int kStep = 0, int R, int V>
MICA_INLINE void take_turn(F32 (&sum)[R][V], RowPointers<R>& a, const float*& panel, int64_t ahead) {
  F32 b[V];
  MICA_UNROLL for (int j = 0; j < V; ++j) b[j] = load(panel + kStep * kPanel + j * kLanes);
  prefetch(panel + ahead + kStep * kPanel);
  add_step<kStep>(sum, a, a.stride * static_cast<int64_t>(sizeof(float)), b);
  if constexpr (kStep + 1 < kTurnSteps) return take_turn<kStep + 1>(sum, a, panel, ahead);
  panel += kTurnSteps * kPanel;
  a.advance(kTurnSteps);
}
#else
constexpr bool takes_turns(int, int) { return false; }

template <int R, int V>
MICA_INLINE void take_turn(F32 (&)[R][V], RowPointers<R>&, const float*&, int64_t) {}
#endif

// How far ahead the turns of a panel of `depth` steps ask for lines: as far as nothing lies behind `last_line`.
MICA_INLINE int64_t turn_ahead(const float* panel, int64_t depth, const float* last_line) {
  const int64_t left = last_line - panel - (depth - 1) * kPanel;
  return left < 0 ? 0 : left < kAhead ? left : kAhead;
}

// As many turns as end before `end` of the first row.
template <bool kFetch = true, int R, int V>
MICA_INLINE void take_turns(F32 (&sum)[R][V], RowPointers<R>& a, const float*& panel, const float* end,
                            TileFetch& fetch, const TilePlace& at, int64_t ahead) {
  if constexpr (takes_turns(R, V))
    for (int64_t turns = (end - a.at[0]) / kTurnSteps; turns > 0; --turns) {
      if constexpr (kFetch) fetch.step(at, kTurnSteps);
      take_turn(sum, a, panel, ahead);
    }
}

}  // namespace mica::MICA_ISA
