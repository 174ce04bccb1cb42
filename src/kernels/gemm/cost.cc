#include "kernels/gemm/cost.h"

#include <math.h>

#include "base/integers.h"
#include "base/isa.h"
#include "kernels/pack/pack.h"

namespace mica {
namespace {

constexpr int kLeastRowsOfHalves = 4;  // of the highest tile, for one of half of a panel

double most(double a, double b) { return a > b ? a : b; }

// One register tile of r rows x `panels` panels. `load`: of two loads, the cycles; they take no longer beside half-wide
// units.
double tile_cycles(const CostLanes& l, double r, double panels, double k, double load) {
  const double vectors = panels * kPanel / l.lanes, fmas = r * vectors / l.fmas, loads = (r + vectors) / 2 * load;
  return k * most(most(fmas, loads), 4) + 20 + r * vectors * 1.5;
}

}  // namespace

CostLanes cost_lanes(Isa isa) {
  switch (isa) {
    case Isa::kAvx512: return {16, 2, 14};
    case Isa::kAvx2: return {8, 2, 6};
    case Isa::kNeon: return {4, 2, 6};
    default: return {4, 1, 2};
  }
}

double product_cycles(Isa isa, int64_t m, int64_t columns, int64_t k, const GemmLimits& limits) {
  const CostLanes l = cost_lanes(isa);
  const int64_t main = l.lanes == kPanel ? 2 : 1, halves = ceil_div(columns, kPanel / 2);
  const int64_t tiles = ceil_div(m, static_cast<int64_t>(l.rows));
  if (tiles == 0) return 0;
  const double rows = static_cast<double>(m) / static_cast<double>(tiles), depth = static_cast<double>(k);
  const double load = beside_units(limits);
  const int64_t whole = halves / (2 * main);
  const double wide = static_cast<double>(whole) * tile_cycles(l, rows, static_cast<double>(main), depth, load);
  const int64_t left =
      l.rows >= kLeastRowsOfHalves ? halves % (2 * main) : ceil_div(halves % (2 * main), int64_t{2}) * 2;
  const double narrow = left > 0 ? tile_cycles(l, rows, static_cast<double>(left) / 2, depth, load) : 0;
  return static_cast<double>(tiles) * (wide + narrow);
}

double overlapped(double cycles, double weight_bytes, const GemmLimits& limits) {
  if (weight_bytes * 2 <= static_cast<double>(limits.l2_bytes)) return cycles;
  const double stream = weight_bytes / stream_bytes(limits);
  return cycles > stream ? cycles + stream / 4 : stream + cycles / 4;
}

double chain_error(int64_t length) { return kRoundingUnit * sqrt(static_cast<double>(length) / 6); }

}  // namespace mica
