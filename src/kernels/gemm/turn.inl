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
constexpr bool takes_turns(int rows, int vectors) { return rows == kMaxRows && vectors == 2; }

// One step of k of three rows from `row` on; `a` is at the first one's element, kSteps steps before. By hand: sums,
// operands and addresses take all registers but one, and of steps side by side compilers keep some sums in memory.
template <int kSteps, int R>
MICA_INLINE void add_step(F32 (&sum)[R][2], int row, const float* a, int64_t stride, F32 b0, F32 b1) {
  F32 x, s0 = sum[row][0], s1 = sum[row][1], s2 = sum[row + 1][0], s3 = sum[row + 1][1], s4 = sum[row + 2][0],
         s5 = sum[row + 2][1];
  asm("vbroadcastss %c[bytes](%[a]), %[x]\n"
      "vfmadd231ps %[b0], %[x], %[s0]\n"
      "vfmadd231ps %[b1], %[x], %[s1]\n"
      "vbroadcastss %c[bytes](%[a], %[stride]), %[x]\n"
      "vfmadd231ps %[b0], %[x], %[s2]\n"
      "vfmadd231ps %[b1], %[x], %[s3]\n"
      "vbroadcastss %c[bytes](%[a], %[stride], 2), %[x]\n"
      "vfmadd231ps %[b0], %[x], %[s4]\n"
      "vfmadd231ps %[b1], %[x], %[s5]\n"
      : [s0] "+x"(s0), [s1] "+x"(s1), [s2] "+x"(s2), [s3] "+x"(s3), [s4] "+x"(s4), [s5] "+x"(s5), [x] "=&x"(x)
      : [b0] "x"(b0), [b1] "x"(b1), [a] "r"(a), [stride] "r"(stride * static_cast<int64_t>(sizeof(float))),
        [bytes] "i"(kSteps * sizeof(float))
      : "memory");
  sum[row][0] = s0, sum[row][1] = s1, sum[row + 1][0] = s2, sum[row + 1][1] = s3, sum[row + 2][0] = s4,
  sum[row + 2][1] = s5;
}

// `ahead`: four lines to ask for.
template <int R>
MICA_INLINE void take_turn(F32 (&sum)[R][2], RowPointers<R>& a, const float*& b, const float* ahead) {
  const auto step = [&]<int s>() __attribute__((always_inline)) {
    const F32 b0 = load(b + s * kPanel), b1 = load(b + s * kPanel + kLanes);
    prefetch(ahead + s * kPanel);
    add_step<s>(sum, 0, a.at[0], a.stride, b0, b1);
    add_step<s>(sum, 3, a.at[1], a.stride, b0, b1);
  };
  step.template operator()<0>();
  step.template operator()<1>();
  step.template operator()<2>();
  step.template operator()<3>();
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
