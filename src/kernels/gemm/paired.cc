#include "kernels/gemm/paired.h"

#include <math.h>

#include "base/integers.h"
#include "base/isa.h"
#include "kernels/gemm/cost.h"
#include "kernels/pack/pack.h"

namespace mica {
namespace {

// As measured on Zen 4, within 5 % of all layers of 64 columns and more. Cycles are those of units as wide as vectors,
// of which half-wide ones take two: of a tile with one panel, of a row of it, of a row's sums, and of 16 of its steps
// of k.
constexpr double kTileCycles = 20, kTileRowCycles = 2, kRowCycles = 16, kLineCycles = 1.3;
// A row of a tile by a step of k: four of six multiply-adds, two at a time.
constexpr double kStepCycles = 1.03 * 4 / 6 / 2;
// What is predicted to take this much less is taken. Fewer rows are not worth a tile.
constexpr double kMargin = 1.05;
constexpr int64_t kLeastRows = 10;

// Rows are split unless columns gain more than this: a thread's rows are those that it has just written, and that it
// reads next. Few tasks leave little to take over from a thread that is late.
constexpr double kColumnsPrice = 1.05, kFewTasksPrice = 1.02;

// So many rows by so many panels.
double rows_cycles(int64_t rows, int64_t panel_count, int64_t depth) {
  const PairedHeights heights = paired_heights(rows);
  const auto tiles = static_cast<double>(heights.tiles), panels = static_cast<double>(panel_count),
             k = static_cast<double>(depth);
  // A tile computes all of its rows.
  const auto computed = static_cast<double>(heights.rows());
  return computed * panels * (k * kStepCycles + kTileRowCycles) + tiles * panels * kTileCycles +
         static_cast<double>(rows) * (kRowCycles + k / kPanel * kLineCycles);
}

// About as many tasks as there are. Those that share rows measure them each.
void split_into_tasks(const GemmProblem& p, int64_t threads, GemmChoice& c) {
  const int64_t wanted = threads > 1 ? c.tasks : 1, panels = panel_count(p.n), tiles = paired_heights(p.m).tiles;
  if (c.tasks == 0) return;  // nothing to compute
  double fewest = INFINITY;
  for (int64_t parts = 1; parts <= least(wanted, panels); ++parts) {
    const int64_t n_block = ceil_div(panels, parts), n_tasks = ceil_div(panels, n_block);
    const int64_t of_rows = ceil_div(wanted, n_tasks), most_rows = wanted == 1 ? 1 : least(2 * of_rows, tiles);
    for (int64_t m_tasks = least(ceil_div(of_rows, 4), tiles); m_tasks <= most_rows; ++m_tasks) {
      const int64_t m_block = ceil_div(p.m, m_tasks), tasks = m_tasks * n_tasks;
      const double price = (n_tasks > 1 ? kColumnsPrice : 1) * (2 * tasks < wanted ? kFewTasksPrice : 1);
      const auto of_a_thread = static_cast<double>(ceil_div(tasks, threads));
      const double cycles = of_a_thread * rows_cycles(m_block, n_block, p.k) * price;
      if (cycles >= fewest) continue;
      fewest = cycles;
      c.m_block = m_block;
      c.m_tasks = m_tasks;
      c.n_block = n_block;
      c.n_tasks = n_tasks;
    }
  }
  c.tasks = c.m_tasks * c.n_tasks;
}

}  // namespace

bool paired_fits(const GemmProblem& p, Isa isa) {
  return kWithPaired && isa == Isa::kAvx512 && p.b_form == MatrixForm::kPanels && p.a_form == MatrixForm::kRows &&
         p.batch[0] * p.batch[1] == 1 && p.m >= 1 && p.n >= 1 && p.k >= 1;
}

GemmChoice choose_paired(const GemmProblem& p, Isa isa, const GemmLimits& limits) {
  GemmChoice c = choose_gemm(p, isa, limits);
  split_into_tasks(p, limits.threads, c);
  c.tile_rows = kPairedRows;
  c.n_group = c.n_block;
  c.k_block = p.k;
  c.panel_rows = 0;
  c.k_outside = c.fetch_rows = c.copies_rows = false;
  c.paired = true;
  c.scratch_floats = kPairedHighRows * (kPairedPanels * kPanel + paired_pitch(p.k));
  return c;
}

double paired_cycles(const GemmProblem& p, const GemmLimits& limits) {
  const double bytes = static_cast<double>(panels_size(p.k, p.n)) * 4;
  return overlapped(rows_cycles(p.m, panel_count(p.n), p.k), bytes, limits);
}

bool paired_pays(const GemmProblem& p, const GemmLimits& limits, double cycles, double plain_cycles) {
  return limits.adds_apart && limits.half_units && p.m >= kLeastRows && cycles * kMargin < plain_cycles;
}

double paired_error(int64_t k) {
  const double depth = static_cast<double>(k);
  return kRoundingUnit * sqrt((2.0 / 3 * 5 / 6 / 3 + 2.0 / 9 / 6) * depth + 8.0 / 9);
}

double paired_error_of_large(int64_t k) {
  const double depth = static_cast<double>(k), carried = 4 * depth;
  return kRoundingUnit * sqrt(2 * depth / 3 * carried * carried / 3 / (8 * depth)) + paired_error(k);
}

int64_t paired_weights_size(const GemmProblem& p) { return panel_count(p.n) * paired_panel(p.k); }

}  // namespace mica
