#include "kernels/gemm/cost.h"

#include <math.h>

#include "base/isa.h"
#include "kernels/pack/pack.h"

namespace mica {
namespace {

double most(double a, double b) { return a > b ? a : b; }

// One register tile of r rows x `panels` panels.
double tile_cycles(const CostLanes& l, double r, double panels, double k) {
  const double vectors = panels * kPanel / l.lanes, fmas = r * vectors / l.fmas, loads = (r + vectors) / 2;
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

double product_cycles(Isa isa, int64_t m, int64_t panels, int64_t k) {
  const CostLanes l = cost_lanes(isa);
  const int64_t main = l.lanes == kPanel ? 2 : 1, pairs = panels / main, tiles = (m + l.rows - 1) / l.rows;
  if (tiles == 0) return 0;
  const double rows = static_cast<double>(m) / static_cast<double>(tiles), depth = static_cast<double>(k);
  const double wide = static_cast<double>(pairs) * tile_cycles(l, rows, static_cast<double>(main), depth);
  const double narrow = static_cast<double>(panels % main) * tile_cycles(l, rows, 1, depth);
  return static_cast<double>(tiles) * (wide + narrow);
}

double overlapped(double cycles, double weight_bytes, const GemmLimits& limits) {
  if (weight_bytes * 2 <= static_cast<double>(limits.l2_bytes)) return cycles;
  const double stream = weight_bytes / stream_bytes(limits);
  return cycles > stream ? cycles + stream / 4 : stream + cycles / 4;
}

double chain_error(int64_t length) { return kRoundingUnit * sqrt(static_cast<double>(length) / 6); }

}  // namespace mica
