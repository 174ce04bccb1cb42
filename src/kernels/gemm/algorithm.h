// Which algorithm a product of matrices takes: plain tiles, Strassen's or products of terms in pairs, by predicted
// cycles and errors.
#pragma once
#include <span>

#include "kernels/gemm/paired.h"
#include "kernels/gemm/strassen.h"

namespace mica {

enum class GemmAlgorithm : uint8_t { kPlain, kStrassen, kPaired };
inline constexpr int kGemmAlgorithms = 3;
std::string_view name_of(GemmAlgorithm algorithm);
// The one of this name that can be forced; kPlain when there is none.
GemmAlgorithm gemm_force(std::string_view name);

// Of each algorithm: a pure function of the problem's numbers, the instruction set and the caches.
struct GemmCandidate {
  GemmAlgorithm algorithm = GemmAlgorithm::kPlain;
  bool fits = false;     // can compute the problem
  bool allowed = false;  // and stays within kMostGemmError
  bool modest = true;    // its error is at most kMostOfPlain times the plain product's
  bool pays = true;      // cheaper by a margin, for as many rows as its weights are worth: taken unasked where modest
  double cycles = 0;     // of one core
  double bytes = 0;      // of the form of B
  // Eight standard deviations of an output's error where outputs have the variance 1.
  double error = 0;
};
inline constexpr double kMostGemmError = 3e-4, kMostOfPlain = 4;  // as for convolutions

struct GemmCandidates {
  GemmCandidate list[kGemmAlgorithms];  // in the order of GemmAlgorithm
  const GemmCandidate& of(GemmAlgorithm a) const { return list[static_cast<int>(a)]; }
};
GemmCandidates gemm_candidates(const GemmProblem& problem, Isa isa, const GemmLimits& limits);

struct GemmPolicy {
  GemmAlgorithm force = GemmAlgorithm::kPlain;  // wherever it is allowed; kPlain: none
  bool low_memory = false;                      // no weights of a form of their own
  double byte_price = 0;                        // cycles that a byte of these has to save
};
// The cheapest one, others than the plain one only where they are so by a margin.
GemmAlgorithm choose_gemm_algorithm(const GemmProblem& problem, Isa isa, const GemmLimits& limits,
                                    const GemmPolicy& policy);

// "plain 1839 kcycles, error 15213e-9 (chosen); strassen ..."; returns the length.
size_t print_candidates(const GemmProblem& problem, GemmAlgorithm chosen, Isa isa, const GemmLimits& limits,
                        std::span<char> out);

}  // namespace mica
