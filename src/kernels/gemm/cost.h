// What products take and how wrong they are, for the choice of an algorithm: pure functions of numbers, the instruction
// set and the caches. Costs are cycles of one core.
#pragma once
#include <stdint.h>

#include "kernels/gemm/gemm.h"

namespace mica {

inline constexpr double kStreamBytes = 10;  // a cycle, from beyond the second-level cache

struct CostLanes {
  double lanes, fmas;  // vectors of multiply-adds a cycle
  int rows;            // of a register tile of the product
};
// Also of sets that this build has not: choices for them must not depend on the build.
CostLanes cost_lanes(Isa isa);

// Cycles of m rows of K against panels of 16 columns.
double product_cycles(Isa isa, int64_t m, int64_t panels, int64_t k);

// What is computed, and the weights that stream by meanwhile; a quarter of the shorter one is not hidden.
double overlapped(double cycles, double weight_bytes, const GemmLimits& limits);

// The standard deviation of the error of a chain of multiply-adds, relative to that of its result: every rounding is an
// independent error of variance u²/3 of its result's square, and a chain of n equal terms then errs by n · u²/6.
inline constexpr double kRoundingUnit = 1.0 / (1 << 24);  // u
double chain_error(int64_t length);

}  // namespace mica
