// What each algorithm would take for a convolution, and how wrong it would be: pure functions of the problem's numbers,
// the instruction set and the caches, from which the algorithm is chosen.
//
// Costs are cycles of one core, for work that is spread evenly: multiply-adds by tiles of registers as the kernels make
// them, gathered and transformed vectors at measured rates, and the weights' way from beyond the second-level cache.
#pragma once
#include <span>

#include "kernels/conv/conv.h"
#include "kernels/gemm/cost.h"

namespace mica {

inline constexpr double kCopyBytes = 24;  // a cycle, gathering

struct ConvCandidate {
  ConvAlgorithm algorithm = ConvAlgorithm::kImplicit;
  bool fits = false;     // can compute the problem
  bool allowed = false;  // and, if it transforms, stays within kMostConvError
  bool modest = true;    // its error is at most kMostOfDirect times the direct algorithm's: taken unasked
  double cycles = 0;
  double bytes = 0;  // of the weights' form
  // Eight standard deviations of an output's error where outputs have the variance 1: no output of a layer is seen
  // beyond, also where multiply-adds round twice.
  double error = 0;
};

inline constexpr double kMostConvError = 3e-4;
// A whole network errs by about its layers' error times what it makes of any rounding. Networks that make much of it
// would leave 1e-4 of their largest value with the 17 times of 8 points under 3 x 3 taps, for a tenth of the time.
inline constexpr double kMostOfDirect = 4;

// In the order of ConvAlgorithm, from kPointwise on.
inline constexpr int kConvAlgorithms = 11;
struct ConvCandidates {
  ConvCandidate list[kConvAlgorithms];
};
ConvCandidates conv_candidates(const ConvProblem& problem, Isa isa, const GemmLimits& limits,
                               const ConvPolicy& policy = {});

// The share of pairs of a tap and an output that meet the input: taps far apart on a small picture find little but
// padding. 1 without dilation, where hardly any are missed.
double met_share(const ConvProblem& problem);

// Whether it may be taken without being forced, and whether it can be forced and is.
bool is_unasked(const ConvCandidate& candidate, const ConvPolicy& policy);
bool is_asked(const ConvCandidate& candidate, const ConvPolicy& policy);

// The cycles by which a candidate is held against one that has this error: a larger one of its own has its price.
double priced_cycles(const ConvCandidate& candidate, double error);

// The candidates that fit, and why some that are cheaper are passed over: "implicit 1839 kcycles, error 15213e-9;
// winograd6 612 kcycles, error 7411e-9 (chosen)". Returns the length; writes no more than there is room for.
size_t print_candidates(const ConvProblem& problem, ConvAlgorithm chosen, Isa isa, const GemmLimits& limits,
                        const ConvPolicy& policy, std::span<char> out);

}  // namespace mica
