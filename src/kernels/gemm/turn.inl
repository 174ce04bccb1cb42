// Four steps of k in one turn of the highest tile's loop. Included by tile.inl and plain.inl.
//
// A step by itself takes eight instructions beside its loads and multiply-adds. Where these are twenty, as with AVX2,
// that shows in processors that begin four instructions a cycle, and in those whose core another thread shares: there
// tiles are 7 to 25 % faster by turns.
#pragma once
#include "kernels/gemm/tile_parts.inl"

namespace mica::MICA_ISA {

inline constexpr int kTurnSteps = 4;

#if defined(__AVX2__) && !defined(__AVX512F__)
constexpr bool takes_turns(int rows, int vectors) { return rows > 3 && vectors == 2; }

// One row's multiply-adds of the step kStep of k; the row is `rows` + kRow strides. By hand: sums, operands and
// addresses take all registers but one, and of steps side by side compilers keep some sums in memory.
template <int kRow, int kStep>
MICA_INLINE void add_step(F32 (&sum)[2], const float* rows, int64_t row_bytes, F32 b0, F32 b1) {
  F32 x, s0 = sum[0], s1 = sum[1];
#define MICA_ADD_STEP(place)                                                                                    \
  asm("vbroadcastss %c[step](" place                                                                            \
      "), %[x]\n"                                                                                               \
      "vfmadd231ps %[b0], %[x], %[s0]\n"                                                                        \
      "vfmadd231ps %[b1], %[x], %[s1]\n"                                                                        \
      : [s0] "+x"(s0), [s1] "+x"(s1), [x] "=&x"(x)                                                              \
      : [b0] "x"(b0), [b1] "x"(b1), [rows] "r"(rows), [bytes] "r"(row_bytes), [step] "i"(kStep * sizeof(float)) \
      : "memory")
  if constexpr (kRow == 0) MICA_ADD_STEP("%[rows]");
  if constexpr (kRow == 1) MICA_ADD_STEP("%[rows], %[bytes]");
  if constexpr (kRow == 2) MICA_ADD_STEP("%[rows], %[bytes], 2");
#undef MICA_ADD_STEP
  sum[0] = s0;
  sum[1] = s1;
}

template <int kStep, int kRow = 0, int R>
MICA_INLINE void add_steps(F32 (&sum)[R][2], const RowPointers<R>& a, int64_t row_bytes, F32 b0, F32 b1) {
  add_step<kRow % RowPointers<R>::kRows, kStep>(sum[kRow], a.at[kRow / RowPointers<R>::kRows], row_bytes, b0, b1);
  if constexpr (kRow + 1 < R) add_steps<kStep, kRow + 1>(sum, a, row_bytes, b0, b1);
}

// `ahead`: as many lines as steps to ask for.
template <int kStep = 0, int R>
MICA_INLINE void take_turn(F32 (&sum)[R][2], RowPointers<R>& a, const float*& b, const float* ahead) {
  prefetch(ahead + kStep * kPanel);
  add_steps<kStep>(sum, a, a.stride * static_cast<int64_t>(sizeof(float)), load(b + kStep * kPanel),
                   load(b + kStep * kPanel + kLanes));
  if constexpr (kStep + 1 < kTurnSteps) return take_turn<kStep + 1>(sum, a, b, ahead);
  b += kTurnSteps * kPanel;
  a.advance(kTurnSteps);
}
#else
constexpr bool takes_turns(int, int) { return false; }

template <int R, int V>
MICA_INLINE void take_turn(F32 (&)[R][V], RowPointers<R>&, const float*&, const float*) {}
#endif

// As many turns as end before `end` of the first row.
template <int R, int V>
MICA_INLINE void take_turns(F32 (&sum)[R][V], RowPointers<R>& a, const float*& b, const float* end, TileFetch& fetch,
                            const TilePlace& at, const float* last_line) {
  if constexpr (takes_turns(R, V))
    for (const float* const last = last_line - (kTurnSteps - 1) * kPanel; end - a.at[0] >= kTurnSteps;) {
      fetch.step(at, kTurnSteps);
      take_turn(sum, a, b, line_ahead(b, last));
    }
}

}  // namespace mica::MICA_ISA
