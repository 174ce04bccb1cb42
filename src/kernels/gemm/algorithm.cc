#include "kernels/gemm/algorithm.h"

#include "base/isa.h"
#include "kernels/gemm/cost.h"
#include "kernels/pack/pack.h"

namespace mica {
namespace {

constexpr double kDeviations = 8;
constexpr std::string_view kNames[kGemmAlgorithms] = {"plain", "strassen", "paired"};

void judge(const GemmCandidate& plain, double error, GemmCandidate& c) {
  c.error = kDeviations * error;
  c.allowed = c.error <= kMostGemmError;
  c.modest = c.error <= kMostOfPlain * plain.error;
}

}  // namespace

std::string_view name_of(GemmAlgorithm algorithm) { return kNames[static_cast<int>(algorithm)]; }

GemmAlgorithm gemm_force(std::string_view name) {
  for (const GemmAlgorithm a : {GemmAlgorithm::kStrassen, GemmAlgorithm::kPaired})
    if (name == name_of(a)) return a;
  return GemmAlgorithm::kPlain;
}

GemmCandidates gemm_candidates(const GemmProblem& p, Isa isa, const GemmLimits& limits) {
  GemmCandidates c;
  for (int i = 0; i < kGemmAlgorithms; ++i) c.list[i].algorithm = static_cast<GemmAlgorithm>(i);
  GemmCandidate &plain = c.list[0], &strassen = c.list[1], &paired = c.list[2];
  const double weights = static_cast<double>(panels_size(p.k, p.n)) * 4;
  plain.fits = plain.allowed = true;
  plain.bytes = weights;
  plain.cycles = static_cast<double>(p.batch[0] * p.batch[1]) *
                 overlapped(product_cycles(isa, p.m, p.n, p.k, limits), weights, limits);
  plain.error = kDeviations * chain_error(p.k);
  // Named first, so that a trimmed build is without the functions, too.
  strassen.fits = kWithStrassen && strassen_fits(p);
  if (kWithStrassen && strassen.fits) {
    judge(plain, strassen_error(p.k), strassen);
    strassen.bytes = static_cast<double>(strassen_weights_size(p)) * 4;
    strassen.cycles = strassen_cycles(p, isa, limits);
    strassen.pays = strassen_pays(p, isa, strassen.cycles, plain.cycles);
  }
  paired.fits = kWithPaired && paired_fits(p, isa);
  if (kWithPaired && paired.fits) {
    judge(plain, paired_error(p.k), paired);
    paired.bytes = static_cast<double>(paired_weights_size(p)) * 4;
    paired.cycles = paired_cycles(p, limits);
    paired.pays = paired_pays(p, limits, paired.cycles, plain.cycles);
  }
  return c;
}

GemmAlgorithm choose_gemm_algorithm(const GemmProblem& p, Isa isa, const GemmLimits& limits, const GemmPolicy& policy) {
  const GemmCandidates all = gemm_candidates(p, isa, limits);
  if (policy.low_memory) return GemmAlgorithm::kPlain;
  if (policy.force != GemmAlgorithm::kPlain && all.of(policy.force).allowed) return policy.force;
  const auto price = [&](const GemmCandidate& c) { return c.cycles + policy.byte_price * c.bytes; };
  const GemmCandidate* best = &all.list[0];
  for (const GemmCandidate& c : all.list)
    if (c.allowed && c.modest && c.pays && price(c) < price(*best)) best = &c;
  return best->algorithm;
}

size_t print_candidates(const GemmProblem& p, GemmAlgorithm chosen, Isa isa, const GemmLimits& limits,
                        std::span<char> out) {
  const auto verdict = [&](const GemmCandidate& c) -> std::string_view {
    return c.algorithm == chosen ? " (chosen)" : c.allowed ? "" : " (too inexact)";
  };
  return print_list<GemmCandidate>(gemm_candidates(p, isa, limits).list, verdict, out);
}

}  // namespace mica
