// What products take and how wrong they are, for the choice of an algorithm: pure functions of numbers, the instruction
// set and the caches. Costs are cycles of one core.
#pragma once
#include <stdint.h>

#include <span>

#include "base/format.h"
#include "kernels/gemm/gemm.h"

namespace mica {

// Bytes a cycle from beyond the second-level cache, to one thread: from the next cache or from memory. Cycles are those
// of units as wide as vectors, of which those of AMD's Zen that are half as wide take two (13 on Zen 1, 15 to 18 on Zen
// 4; Zen 5 has 11 from memory and 31 from its cache).
inline double stream_bytes(const GemmLimits& limits) { return limits.adds_apart ? 15 : 10; }

// What is not arithmetic on whole vectors (places, exchanges, copies into a band, weights from the next cache) takes as
// long beside units of either width: half as many of these cycles where those are half as wide.
inline double beside_units(const GemmLimits& limits) { return limits.half_units ? 0.5 : 1; }

struct CostLanes {
  double lanes, fmas;  // vectors of multiply-adds a cycle
  int rows;            // of a register tile of the product
};
// Also of sets that this build has not: choices for them must not depend on the build.
CostLanes cost_lanes(Isa isa);

// Cycles of m rows of K against panels of 16 columns, and half a panel where no more lies before the last column.
double product_cycles(Isa isa, int64_t m, int64_t columns, int64_t k, const GemmLimits& limits);

// What is computed, and the weights that stream by meanwhile; a quarter of the shorter one is not hidden.
double overlapped(double cycles, double weight_bytes, const GemmLimits& limits);

// The standard deviation of the error of a chain of multiply-adds, relative to that of its result: every rounding is an
// independent error of variance u²/3 of its result's square, and a chain of n equal terms then errs by n · u²/6.
inline constexpr double kRoundingUnit = 1.0 / (1 << 24);  // u
double chain_error(int64_t length);

// The candidates of a list that fit, whose algorithms have names, and what `verdict` says of each: "plain 1839 kcycles,
// error 15213e-9 (chosen); ...". Returns the length; writes no more than there is room for.
template <class Candidate, class Verdict>
size_t print_list(std::span<const Candidate> candidates, Verdict verdict, std::span<char> out) {
  size_t length = 0;
  for (const Candidate& c : candidates) {
    if (!c.fits || length + 1 >= out.size()) continue;
    length += format_to(out.data() + length, out.size() - length, "{}{} {} kcycles, error {}e-9{}", length ? "; " : "",
                        name_of(c.algorithm), static_cast<int64_t>(c.cycles / 1e3), static_cast<int64_t>(c.error * 1e9),
                        verdict(c));
  }
  return length;
}

}  // namespace mica
