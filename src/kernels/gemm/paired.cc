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

}  // namespace

bool paired_fits(const GemmProblem& p, Isa isa) {
  return kWithPaired && isa == Isa::kAvx512 && p.b_form == MatrixForm::kPanels && p.a_form == MatrixForm::kRows &&
         p.batch[0] * p.batch[1] == 1 && p.m >= 1 && p.n >= 1 && p.k >= 1;
}

GemmChoice choose_paired(const GemmProblem& p, Isa isa, const GemmLimits& limits) {
  GemmChoice c = choose_gemm(p, isa, limits);
  c.tile_rows = kPairedRows;
  c.n_group = c.n_block;
  c.k_block = p.k;
  c.panel_rows = 0;
  c.k_outside = c.fetch_rows = c.copies_rows = false;
  c.paired = true;
  c.scratch_floats = kPairedRows * (kPairedPanels * kPanel + paired_pitch(p.k));
  return c;
}

double paired_cycles(const GemmProblem& p, const GemmLimits& limits) {
  const double m = static_cast<double>(p.m), k = static_cast<double>(p.k),
               panels = static_cast<double>(panel_count(p.n));
  const double tiles = ceil(m / kPairedRows);
  const double cycles = m * panels * (k * kStepCycles + kTileRowCycles) + tiles * panels * kTileCycles +
                        m * (kRowCycles + k / kPanel * kLineCycles);
  return overlapped(cycles, panels * k * kPanel * 4, limits);
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
