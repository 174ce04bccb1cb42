// AVX2's inner loop of tiles of four to six rows: eight steps of k in a turn. Included by tile.inl and plain.inl.
//
// A step is six broadcasts, two loads and twelve multiply-adds, and as many instructions must begin as processors begin
// in the time of the multiply-adds: four a cycle in many, three where another thread shares the core. What stands
// beside those twenty shows. By hand, seven instructions do in eight steps: sums, operands and addresses take all
// registers but one, and compilers keep some sums in memory or move them about. Panels are asked for ahead only by the
// rows that read them first (FetchCursor): a line is read every six cycles or more, which processors foresee.
#pragma once
#include <stddef.h>

#include "kernels/gemm/tile_parts.inl"

namespace mica::MICA_ISA {

#if defined(__AVX2__) && !defined(__AVX512F__)
constexpr bool takes_turns(int rows, int vectors) { return kLanes == 8 && rows > 3 && rows * vectors <= 12; }

// What turns know of their rows, and of what they fetch: as TileFetch does, but four lines at a time, since a decision
// takes longer than they do. The first ones come after half of the time, so that calls of few steps fetch their share
// on average. The assembly knows the places of these; it has no operand left for them.
struct Turns {
  MICA_INLINE Turns(const TilePlace& at, int64_t row_stride, int64_t panel_stride)
      : row_bytes(row_stride * static_cast<int64_t>(sizeof(float))),
        next(at.fetch),
        period(at.fetch_period < INT64_MAX / 4 ? 4 * at.fetch_period : INT64_MAX),
        wait(period / 2),
        near(at.fetch_near),
        panel_bytes(panel_stride * static_cast<int64_t>(sizeof(float))) {}

  int64_t row_bytes;
  const float* next;
  int64_t period, wait, near, panel_bytes;
};
static_assert(offsetof(Turns, row_bytes) == 0 && offsetof(Turns, next) == 8 && offsetof(Turns, period) == 16 &&
              offsetof(Turns, wait) == 24 && offsetof(Turns, near) == 32 && offsetof(Turns, panel_bytes) == 40);

// Of one step: a row's multiply-adds by the vectors of the panel, in ymm14 and ymm15, and by the first one of the panel
// beside it, in ymm12. The numbers are those of a row's sums among the operands.
#define MICA_ROW_1(step, row, s) \
  "vbroadcastss " step "*4" row ", %%ymm13\n\tvfmadd231ps %%ymm14, %%ymm13, %[s" s "]\n\t"
#define MICA_ROW_2(step, row, s) MICA_ROW_1(step, row, s) "vfmadd231ps %%ymm15, %%ymm13, %[t" s "]\n\t"
#define MICA_ROW_3(step, row, s) MICA_ROW_2(step, row, s) "vfmadd231ps %%ymm12, %%ymm13, %[u" s "]\n\t"
#define MICA_PANEL_1(step) "vmovups " step "*64(%[panel]), %%ymm14\n\t"
#define MICA_PANEL_2(step) MICA_PANEL_1(step) "vmovups " step "*64+32(%[panel]), %%ymm15\n\t"
#define MICA_PANEL_3(step) MICA_PANEL_2(step) "vmovups " step "*64(%%rdx), %%ymm12\n\t"
#define MICA_STEP_4(v, step)                                                                                  \
  step ":\n\t" MICA_PANEL_##v(step) MICA_ROW_##v(step, "(%%r8)", "0") MICA_ROW_##v(step, "(%%r8,%%r10)", "1") \
      MICA_ROW_##v(step, "(%%r8,%%r10,2)", "2") MICA_ROW_##v(step, "(%%r9)", "3")
#define MICA_STEP_5(v, step) MICA_STEP_4(v, step) MICA_ROW_##v(step, "(%%r9,%%r10)", "4")
#define MICA_STEP_6(v, step) MICA_STEP_5(v, step) MICA_ROW_##v(step, "(%%r9,%%r10,2)", "5")
#define MICA_SUM_1(i) [s##i] "+x"(sum[i][0])
#define MICA_SUM_2(i) MICA_SUM_1(i), [t##i] "+x"(sum[i][1])
#define MICA_SUM_3(i) MICA_SUM_2(i), [u##i] "+x"(sum[i][2])
#define MICA_SUMS_4(v) MICA_SUM_##v(0), MICA_SUM_##v(1), MICA_SUM_##v(2), MICA_SUM_##v(3)
#define MICA_SUMS_5(v) MICA_SUMS_4(v), MICA_SUM_##v(4)
#define MICA_SUMS_6(v) MICA_SUMS_5(v), MICA_SUM_##v(5)
#define MICA_SECOND_1
#define MICA_SECOND_2
#define MICA_SECOND_3 "mov 40(%[turns]), %%rdx\n\tadd %[panel], %%rdx\n\t"
#define MICA_SECOND_ON_1
#define MICA_SECOND_ON_2
#define MICA_SECOND_ON_3 "add $512, %%rdx\n\t"
#define MICA_MORE_1
#define MICA_MORE_2
#define MICA_MORE_3 "rdx", "xmm12",
#define MICA_LINES(near)                                                                                       \
  "prefetcht" near " (%%rax)\n\tprefetcht" near " 64(%%rax)\n\tprefetcht" near " 128(%%rax)\n\tprefetcht" near \
  " 192(%%rax)\n\t"
// Registers: r8 and r9 point at the first and the fourth row, rdx at the panel beside, r10 is the distance between
// rows, r11 the steps before lines are fetched. The first turn begins in its middle where it is not whole: then
// pointers stand before what is read.
#define MICA_TURNS(r, v) \
  asm volatile(                                                                                                      \
      "mov %[count], %%rax\n\tneg %%rax\n\tand $7, %%eax\n\tadd %%rax, %[count]\n\tshr $3, %[count]\n\t"               \
      "lea (,%%rax,4), %%r9\n\tmov %[rows], %%r8\n\tsub %%r9, %%r8\n\tshl $4, %%r9\n\tsub %%r9, %[panel]\n\t"         \
      "mov (%[turns]), %%r10\n\tlea (%%r8,%%r10,2), %%r9\n\tadd %%r10, %%r9\n\tmov 24(%[turns]), %%r11\n\t"           \
      MICA_SECOND_##v                                                                                                \
      "test %%eax, %%eax\n\tje 0f\n\tcmp $4, %%eax\n\tja 8f\n\tje 4f\n\tcmp $2, %%eax\n\tjb 1f\n\tje 2f\n\tjmp 3f\n"  \
      "8:\tcmp $6, %%eax\n\tjb 5f\n\tje 6f\n\tjmp 7f\n\t.p2align 6\n"                                                \
      MICA_STEP_##r(v, "0") MICA_STEP_##r(v, "1") MICA_STEP_##r(v, "2") MICA_STEP_##r(v, "3")                        \
      MICA_STEP_##r(v, "4") MICA_STEP_##r(v, "5") MICA_STEP_##r(v, "6") MICA_STEP_##r(v, "7")                        \
      "add $32, %%r8\n\tadd $32, %%r9\n\tadd $512, %[panel]\n\t" MICA_SECOND_ON_##v                                 \
      "sub $8, %%r11\n\tjs 10f\n9:\tdec %[count]\n\tjnz 0b\n\tmov %%r11, 24(%[turns])\n\tjmp 13f\n"                  \
      "10:\tmov 8(%[turns]), %%rax\n\tcmpb $0, 32(%[turns])\n\tjne 11f\n\t" MICA_LINES("1") "jmp 12f\n"              \
      "11:\t" MICA_LINES("0") "12:\taddq $256, 8(%[turns])\n\tadd 16(%[turns]), %%r11\n\tjs 10b\n\tjmp 9b\n13:"      \
      : MICA_SUMS_##r(v), [panel] "+r"(panel), [count] "+r"(steps)                                                   \
      : [rows] "r"(rows), [turns] "r"(&turns)                                                                        \
      : MICA_MORE_##v "rax", "r8", "r9", "r10", "r11", "xmm13", "xmm14", "xmm15", "cc", "memory")

// `steps` of k of R rows from `rows` on, against the panel, which goes on to what lies behind them.
template <int R, int V>
MICA_INLINE void take_turns(F32 (&sum)[R][V], Turns& turns, const float* rows, const float*& panel, int64_t steps) {
  if (steps <= 0) return;
  static_assert(R > 3 && R <= 6 && (V == 2 || (V == 1 && R == 6) || (V == 3 && R == 4)));
  if constexpr (V == 3)
    MICA_TURNS(4, 3);
  else if constexpr (V == 1)
    MICA_TURNS(6, 1);
  else if constexpr (R == 4)
    MICA_TURNS(4, 2);
  else if constexpr (R == 5)
    MICA_TURNS(5, 2);
  else
    MICA_TURNS(6, 2);
}
#undef MICA_ROW_1
#undef MICA_ROW_2
#undef MICA_ROW_3
#undef MICA_PANEL_1
#undef MICA_PANEL_2
#undef MICA_PANEL_3
#undef MICA_STEP_4
#undef MICA_STEP_5
#undef MICA_STEP_6
#undef MICA_SUM_1
#undef MICA_SUM_2
#undef MICA_SUM_3
#undef MICA_SUMS_4
#undef MICA_SUMS_5
#undef MICA_SUMS_6
#undef MICA_SECOND_1
#undef MICA_SECOND_2
#undef MICA_SECOND_3
#undef MICA_SECOND_ON_1
#undef MICA_SECOND_ON_2
#undef MICA_SECOND_ON_3
#undef MICA_MORE_1
#undef MICA_MORE_2
#undef MICA_MORE_3
#undef MICA_LINES
#undef MICA_TURNS

#else
constexpr bool takes_turns(int, int) { return false; }

struct Turns {
  MICA_INLINE Turns(const TilePlace&, int64_t, int64_t) {}
  const float* next = nullptr;
};
template <int R, int V>
MICA_INLINE void take_turns(F32 (&)[R][V], Turns&, const float*, const float*&, int64_t) {}
#endif

// Of the highest main tile.
inline constexpr bool kMainTurns = takes_turns(kMaxRows, kMainPanels* kPanelVectors);

}  // namespace mica::MICA_ISA
