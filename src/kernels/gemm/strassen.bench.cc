// Products of common sizes, plain and by Strassen's algorithm in turn, predicted and measured, by one thread:
//   strassen_bench [isa [rows [m_block n_block [columns depth]]]]      Built by hand:
//   g++ -std=c++20 -O2 -Isrc -Ibuild/generated src/kernels/gemm/strassen.bench.cc build/libmica_runtime.a -lpthread
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "device/cpu/isa_support.h"
#include "kernels/gemm/aligned_floats.h"
#include "kernels/gemm/strassen.h"
#include "kernels/pack/pack.h"

namespace {

using mica::AlignedFloats;

constexpr mica::GemmLimits kLimits{.l1_bytes = 48 << 10, .l2_bytes = 2 << 20};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F>
double time_of(F f) {
  const double start = now();
  f();
  return now() - start;
}

void fill(const AlignedFloats& to, int64_t size, double deviation) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, static_cast<float>(deviation));
  std::generate_n(to.data(), size, [&] { return normal(random); });
}

// Blocks of so many rows and columns instead of the chosen ones.
mica::StrassenChoice with_blocks(const mica::GemmProblem& p, mica::Isa isa, int64_t m_block, int64_t n_block) {
  const mica::StrassenHalves half = strassen_halves(p);
  mica::StrassenChoice c{.m_block = m_block, .n_block = n_block};
  c.m_tasks = (half.m + m_block - 1) / m_block;
  c.n_tasks = (half.n + n_block - 1) / n_block;
  c.tasks = c.m_tasks * c.n_tasks;
  c.product = choose_gemm({.m = m_block, .n = n_block, .k = half.k}, isa, kLimits);
  c.scratch_floats = m_block * (4 * half.k + 3 * n_block + 80) + 4096;
  return c;
}

// The least times of both, the multiply-adds' peak around them, and the largest difference.
struct Measured {
  double peak = 0, plain = 1e9, strassen = 1e9, weights = 0, off = 0;
};
Measured measure(mica::StrassenArgs args, mica::Isa isa) {
  const mica::GemmKernels& kernels = mica::gemm_kernels(isa);
  const mica::GemmProblem p = args.whole.problem;
  AlignedFloats a(p.m * p.k), b(mica::panels_size(p.k, p.n)), c(p.m * p.n), d(p.m * p.n), bias(p.n);
  AlignedFloats u(mica::strassen_weights_size(p)), scratch(args.choice.scratch_floats);
  fill(a, p.m * p.k, 1), fill(b, mica::panels_size(p.k, p.n), 1 / std::sqrt(p.k));
  mica::StrassenWeights weights = mica::strassen_weights_of(p, 1);
  weights.from = b.data(), weights.to = u.data();
  Measured m{.weights = time_of([&] { kernels.strassen_weights(weights, 0, weights.panels); })};
  mica::GemmArgs& whole = args.whole;
  whole.a = a.data(), whole.a_stride = p.k, whole.c_stride = p.n;
  whole.epilogue = {.bias = bias.data(), .activation = mica::Activation::kClip, .a = -1e9f, .b = 1e9f};
  mica::GemmArgs plain = whole;
  plain.choice = choose_gemm(p, isa, kLimits), plain.b = b.data(), plain.c = c.data();
  whole.choice = args.choice.product, whole.b = u.data(), whole.c = d.data();
  float sink[16];
  const int rounds = static_cast<int>(std::clamp(2e10 / (2.0 * p.m * p.n * p.k), 5.0, 200.0));
  for (int i = 0; i < rounds; ++i) {
    m.peak = std::max(m.peak, kernels.fma_loop_flops * 2e4 / time_of([&] { kernels.fma_loop(20000, sink); }));
    m.plain = std::min(m.plain, time_of([&] { kernels.run(plain, 0, plain.choice.tasks, nullptr); }));
    m.strassen = std::min(m.strassen, time_of([&] { kernels.strassen(args, 0, args.choice.tasks, scratch.data()); }));
  }
  for (int64_t i = 0; i < p.m * p.n; ++i)
    if (const double off = std::fabs(static_cast<double>(c.data()[i]) - d.data()[i]); std::isnan(off) || off > m.off)
      m.off = off;
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  auto chosen = mica::choose_isa(argc > 1 ? argv[1] : "");
  if (!chosen.ok()) return 2;
  const auto number = [&](int i) { return argc > i ? std::atol(argv[i]) : 0; };
  const int64_t widths[][2] = {{512, 512},   {768, 768},   {768, 3072},  {3072, 768}, {1024, 1024},
                               {1024, 4096}, {4096, 1024}, {2048, 2048}, {4096, 4096}};  // columns, depth
  for (int64_t rows : {128, 196, 384, 512, 1024, 2048, 4096})
    for (const auto& w : widths) {
      if ((number(2) && rows != number(2)) || (number(5) && (w[0] != number(5) || w[1] != number(6)))) continue;
      const mica::GemmProblem p{.m = rows, .n = w[0], .k = w[1]};
      mica::StrassenArgs args{.whole = {.problem = p}, .choice = choose_strassen(p, *chosen, kLimits)};
      if (number(3)) args.choice = with_blocks(p, *chosen, number(3), number(4));
      const Measured m = measure(args, *chosen);
      const mica::GemmCandidates predicted = gemm_candidates(p, *chosen, kLimits);
      const double plain = predicted.list[0].cycles, strassen = predicted.list[1].cycles;
      const double kcycle = static_cast<double>(mica::gemm_kernels(*chosen).fma_loop_flops) / 6 / m.peak * 1e3;
      const bool taken = choose_gemm_algorithm(p, *chosen, kLimits, {}) == mica::GemmAlgorithm::kStrassen;
      std::printf(
          "%5ld %5ld %5ld  plain %8.0f kcycles of %8.0f (%4.1f %%)  strassen %8.0f of %8.0f  ratio %.3f of %.3f%s off "
          "%.1e weights %.1f ms block %ldx%ld\n",
          p.m, p.n, p.k, m.plain / kcycle, plain / 1e3, 200.0 * p.m * p.n * p.k / m.plain / m.peak, m.strassen / kcycle,
          strassen / 1e3, m.plain / m.strassen, plain / strassen, taken ? " *" : "  ", m.off, m.weights * 1e3,
          args.choice.m_block, args.choice.n_block);
      std::fflush(stdout);
    }
}
