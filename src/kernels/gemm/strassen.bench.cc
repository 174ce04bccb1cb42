// Products of common sizes, plain and by Strassen's algorithm in turn, predicted and measured, a thread each:
//   strassen_bench [isa [rows]]      Built by hand:
//   g++ -std=c++20 -O2 -Isrc -Ibuild/generated src/kernels/gemm/strassen.bench.cc build/libmica_runtime.a -lpthread
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "device/cpu/isa_support.h"
#include "kernels/gemm/aligned_floats.h"
#include "kernels/gemm/strassen.h"
#include "kernels/pack/pack.h"

namespace {

using mica::AlignedFloats;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void fill(const AlignedFloats& to, int64_t size, double deviation) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, static_cast<float>(deviation));
  std::generate_n(to.data(), size, [&] { return normal(random); });
}

}  // namespace

int main(int argc, char** argv) {
  auto chosen = mica::choose_isa(argc > 1 ? argv[1] : "");
  if (!chosen.ok()) return 2;
  const mica::Isa isa = *chosen;
  const int64_t only = argc > 2 ? std::atol(argv[2]) : 0;
  const mica::GemmKernels& kernels = mica::gemm_kernels(isa);
  const mica::GemmLimits limits{.l1_bytes = 48 << 10, .l2_bytes = 2 << 20};
  const int64_t widths[][2] = {{512, 512},   {768, 768},   {768, 3072},  {3072, 768}, {1024, 1024},
                               {1024, 4096}, {4096, 1024}, {2048, 2048}, {4096, 4096}};  // n, k
  float sink[16];
  for (int64_t m : {128, 196, 384, 512, 1024, 2048, 4096})
    for (const auto& w : widths) {
      const int64_t n = w[0], k = w[1];
      if ((only && m != only) || (argc > 5 && (n != std::atol(argv[5]) || k != std::atol(argv[6])))) continue;
      mica::StrassenArgs args;
      mica::GemmArgs& plain = args.whole;
      plain.problem = {.m = m, .n = n, .k = k};
      AlignedFloats a(m * k), b(mica::panels_size(k, n)), c(m * n), d(m * n), bias(n);
      AlignedFloats u(mica::strassen_weights_size(plain.problem));
      fill(a, m * k, 1), fill(b, mica::panels_size(k, n), 1 / std::sqrt(k));
      mica::StrassenWeights weights = mica::strassen_weights_of(plain.problem, 1);
      weights.from = b.data(), weights.to = u.data();
      double start = now();
      kernels.strassen_weights(weights, 0, weights.panels);
      const double made = now() - start;
      plain.a = a.data(), plain.a_stride = k, plain.c_stride = n;
      plain.epilogue = {.bias = bias.data(), .activation = mica::Activation::kClip, .a = -1e9f, .b = 1e9f};
      mica::GemmArgs own = plain;
      own.choice = choose_gemm(own.problem, isa, limits), own.b = b.data(), own.c = c.data();
      args.choice = choose_strassen(plain.problem, isa, limits);
      if (argc > 3) {  // blocks of so many rows and columns
        args.choice.m_block = std::atol(argv[3]), args.choice.n_block = std::atol(argv[4]);
        const auto h = strassen_halves(plain.problem);
        args.choice.m_tasks = (h.m + args.choice.m_block - 1) / args.choice.m_block;
        args.choice.n_tasks = (h.n + args.choice.n_block - 1) / args.choice.n_block;
        args.choice.tasks = args.choice.m_tasks * args.choice.n_tasks;
        args.choice.product = choose_gemm({.m = args.choice.m_block, .n = args.choice.n_block, .k = h.k}, isa, limits);
        args.choice.scratch_floats = args.choice.m_block * (4 * h.k + 3 * args.choice.n_block + 80) + 4096;
      }
      if (const char* g = std::getenv("GROUP")) args.choice.product.n_group = std::atol(g);
      plain.choice = args.choice.product, plain.b = u.data(), plain.c = d.data();
      AlignedFloats scratch(args.choice.scratch_floats);
      const double flops = 2.0 * m * n * k;
      double peak = 0, t[2] = {1e9, 1e9};
      const int rounds = static_cast<int>(std::clamp(2e10 / flops, 5.0, 200.0));
      for (int i = 0; i < rounds; ++i) {
        start = now();
        kernels.fma_loop(20000, sink);
        peak = std::max(peak, kernels.fma_loop_flops * 2e4 / (now() - start));
        start = now();
        kernels.run(own, 0, own.choice.tasks, nullptr);
        t[0] = std::min(t[0], now() - start);
        start = now();
        kernels.strassen(args, 0, args.choice.tasks, scratch.data());
        t[1] = std::min(t[1], now() - start);
      }
      double off = 0;
      for (int64_t i = 0; i < m * n; ++i)
        off = std::max(off, std::fabs(static_cast<double>(c.data()[i]) - d.data()[i]));
      const mica::GemmCandidates predicted = gemm_candidates(plain.problem, isa, limits);
      const double cycle = static_cast<double>(kernels.fma_loop_flops) / 6 / peak;
      std::printf(
          "%5ld %5ld %5ld  plain %8.0f kcycles of %8.0f (%4.1f %%)  strassen %8.0f of %8.0f  ratio %.3f of "
          "%.3f%s off %.1e weights %.1f ms block %ldx%ld\n",
          m, n, k, t[0] / cycle / 1e3, predicted.list[0].cycles / 1e3, 100 * flops / t[0] / peak, t[1] / cycle / 1e3,
          predicted.list[1].cycles / 1e3, t[0] / t[1], predicted.list[0].cycles / predicted.list[1].cycles,
          choose_gemm_algorithm(plain.problem, isa, limits, {}) == mica::GemmAlgorithm::kStrassen ? " *" : "  ", off,
          made * 1e3, args.choice.m_block, args.choice.n_block);
      std::fflush(stdout);
    }
}
