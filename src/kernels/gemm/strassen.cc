#include "kernels/gemm/strassen.h"

#include <math.h>

#include "base/format.h"
#include "base/integers.h"
#include "base/isa.h"
#include "kernels/gemm/cost.h"
#include "kernels/pack/pack.h"
#include "kernels/split.h"

namespace mica {
namespace {

int64_t whole_lines(int64_t n) { return ceil_div(n, kPanel) * kPanel; }

constexpr int64_t kTasksPerThread = 2, kColumnTasksPerThread = 3;
constexpr int64_t kLeastBlockRows = 112, kNearBlockRows = 160, kMostBlockRows = 266;
// Sixteen numbers of A's sums, read and written, and of the products on their way into a sum. Where additions have
// units of their own they wait for less, if vectors are 64 bytes: of shorter ones twice as many instructions must
// begin.
constexpr double kSumCycles = 11, kPartCycles = 8, kAddsApart = 0.375;
// Bytes a cycle of the products' parts, in addition, where those of a block leave the second-level cache: as measured
// with AVX-512, and with AVX2 by one thread. Shorter vectors' multiply-adds take longer and seem to hide more of the
// way.
constexpr double kFarPartBytes = 5, kHiddenPartBytes = 12;
double far_part_bytes(Isa isa, const GemmLimits& limits) {
  return isa == Isa::kAvx512 || limits.threads > 1 ? kFarPartBytes : kHiddenPartBytes;
}
// What the seven products take beside plain ones of their sizes: they add what a buffer holds, and their weights stay
// in no cache from one block of rows to the next.
constexpr double kProductPrice = 1.015;
// Fewer gain too little for 3/4 more memory: with AVX-512 3 % of 32 rows, none on two threads. Shorter vectors gain
// nothing from 49 and 64 rows, and where weights come from beyond the second-level cache they lose 8 %.
constexpr int64_t least_rows(Isa isa) { return isa == Isa::kAvx512 ? 49 : 98; }
// What is predicted to take this much less is taken. Less is within what measurements scatter by, and a row's error
// goes by the larger one of its pair.
constexpr double kMargin = 1.03;

// Floats of a task's sums and products.
int64_t task_floats(const GemmProblem& p, const StrassenHalves& half, int64_t m_block, int64_t n_block) {
  const bool by_rows = p.a_form == MatrixForm::kRows;
  const int64_t sum = by_rows ? m_block * whole_lines(half.k) : half.k * whole_lines(m_block);
  return 4 * sum + 3 * m_block * whole_lines(n_block) + strassen_flags(m_block);
}

// Rows of a half that a block takes, of equal blocks. Each passes all weights, of 7/4 of the plain product's size, from
// beyond the second-level cache. A quarter of A stays in a quarter of that cache while they pass; where only few rows
// of it would, they would wait for the weights, and more rows are taken as if none stayed.
int64_t rows_of_block(const StrassenHalves& half, int64_t tile_rows, int64_t l2_bytes) {
  const int64_t near = l2_bytes / 4 / (half.k * static_cast<int64_t>(sizeof(float)));
  const int64_t rows = near < kLeastBlockRows ? kMostBlockRows : least(near, kNearBlockRows);
  const int64_t tiles = ceil_div(half.m, tile_rows);
  return ceil_div(tiles, ceil_div(tiles, rows / tile_rows)) * tile_rows;
}

// Cycles of a task: rows of each half of A by panels of each half of B.
double task_cycles(const GemmProblem& p, Isa isa, const GemmLimits& limits, int64_t rows, int64_t panels) {
  const StrassenHalves half = strassen_halves(p);
  const int64_t right = least(panels, panel_count(p.n - half.n));
  const double product = 4 * product_cycles(isa, rows, panels * kPanel, half.k, limits) +
                         3 * product_cycles(isa, rows, right * kPanel, half.k, limits);
  const double weights = static_cast<double>((4 * panels + 3 * right) * half.k * kPanel) * 4;
  const double sums = static_cast<double>(rows * 4 * panel_count(half.k)) * kSumCycles;
  const int64_t part_floats = rows * panels * kPanel, part_bytes = part_floats * static_cast<int64_t>(sizeof(float));
  double parts = static_cast<double>(kStrassenProducts * rows * panels) * kPartCycles;
  if (8 * part_bytes > limits.l2_bytes)
    parts += static_cast<double>(kStrassenProducts * part_bytes) / far_part_bytes(isa, limits);
  const bool apart = limits.adds_apart && isa == Isa::kAvx512;
  return overlapped(product * kProductPrice, weights, limits) + (sums + parts) * (apart ? kAddsApart : 1);
}

// Blocks for several threads. Each task passes its part of the weights and makes its rows' sums: of the splits, the one
// whose busiest thread is done first. Rows are shared out evenly, whole tiles or not.
void split_for_threads(const GemmProblem& p, Isa isa, const GemmLimits& limits, StrassenChoice& c) {
  const StrassenHalves half = strassen_halves(p);
  const int64_t tile_rows = gemm_tile_rows(isa), tiles = ceil_div(half.m, tile_rows), panels = panel_count(half.n);
  const int64_t first = ceil_div(half.m, c.m_block), most_tasks = kTasksPerThread * limits.threads;
  const int64_t most_columns = least(ceil_div(panels, 2), kColumnTasksPerThread * limits.threads);
  double best = 0;
  for (int64_t m_tasks = first; m_tasks <= least(tiles, most(first, most_tasks)); ++m_tasks)
    for (int64_t n_tasks = 1; n_tasks <= most_columns; ++n_tasks) {
      const int64_t rows = ceil_div(half.m, m_tasks), columns = panels_of_task(panels, n_tasks, 1);
      const int64_t tasks = ceil_div(half.m, rows) * ceil_div(panels, columns);
      const double cycles = static_cast<double>(ceil_div(tasks, limits.threads)) *
                            task_cycles(p, isa, limits, rows, least(columns, panels));
      if (best > 0 && cycles >= best) continue;
      best = cycles;
      c.m_block = rows;
      c.n_block = columns * kPanel;
    }
}

}  // namespace

StrassenHalves strassen_halves(const GemmProblem& p) {
  const int64_t n = ceil_div(p.n, 2), lines = whole_lines(n);
  return {ceil_div(p.m, 2), lines < p.n ? lines : n, ceil_div(p.k, 2)};
}

bool strassen_fits(const GemmProblem& p) {
  return kWithStrassen && p.b_form == MatrixForm::kPanels && p.batch[0] * p.batch[1] == 1 && p.m >= 2 && p.n >= 2 &&
         p.k >= 2;
}

StrassenChoice choose_strassen(const GemmProblem& p, Isa isa, const GemmLimits& limits) {
  StrassenChoice c;
  const StrassenHalves half = strassen_halves(p);
  const int64_t tile_rows = gemm_tile_rows(isa), panels = panel_count(half.n);
  c.m_block = rows_of_block(half, tile_rows, limits.l2_bytes);
  c.n_block = panels * kPanel;
  if (limits.threads > 1) split_for_threads(p, isa, limits, c);
  c.m_tasks = ceil_div(half.m, c.m_block);
  c.n_tasks = ceil_div(panels * kPanel, c.n_block);
  c.tasks = c.m_tasks * c.n_tasks;
  c.product = choose_gemm({.m = c.m_block, .n = c.n_block, .k = half.k, .a_form = p.a_form}, isa,
                          {.l1_bytes = limits.l1_bytes, .l2_bytes = limits.l2_bytes});
  c.scratch_floats = task_floats(p, half, c.m_block, c.n_block) + c.product.scratch_floats;
  return c;
}

size_t print(const GemmProblem& p, const StrassenChoice& c, char* out, size_t size) {
  const StrassenHalves half = strassen_halves(p);
  return format_to(out, size, "m={} n={} k={} halves={}x{}x{} block={}x{} group={} tasks={} scratch={}", p.m, p.n, p.k,
                   half.m, half.n, half.k, c.m_block, c.n_block / kPanel, c.product.n_group, c.tasks,
                   c.scratch_floats * static_cast<int64_t>(sizeof(float)));
}

// 9 · k/2 · u²/6 of the chains, and u²/3 of 20.5 that S and T round in P3, P5 and P6, and of 21 that U2, U4 and C12 do.
double strassen_error(int64_t k) {
  return kRoundingUnit * sqrt(9 * static_cast<double>(ceil_div(k, 2)) / 6 + (20.5 + 21) / 3);
}

StrassenWeights strassen_weights_of(const GemmProblem& p, float alpha) {
  const StrassenHalves half = strassen_halves(p);
  return {.n = p.n, .k = p.k, .half = half, .panels = panel_count(half.n), .alpha = alpha};
}

// Of one thread: the algorithm must not depend on their number, since its bits do.
double strassen_cycles(const GemmProblem& p, Isa isa, GemmLimits limits) {
  limits.threads = 1;
  const StrassenHalves half = strassen_halves(p);
  const int64_t block = least(half.m, rows_of_block(half, cost_lanes(isa).rows, limits.l2_bytes));
  const double blocks = static_cast<double>(half.m) / static_cast<double>(block);
  return blocks * task_cycles(p, isa, limits, block, panel_count(half.n));
}

bool strassen_pays(const GemmProblem& p, Isa isa, double cycles, double plain_cycles) {
  return p.a_form == MatrixForm::kRows && p.m >= least_rows(isa) && cycles * kMargin < plain_cycles;
}

int64_t strassen_weights_size(const GemmProblem& p) {
  const StrassenHalves half = strassen_halves(p);
  return kStrassenProducts * panels_size(half.k, half.n);
}

}  // namespace mica
