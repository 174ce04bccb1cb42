// Matrix products of many sizes as shares of the multiply-add peak measured beside each:
//   sweep_bench [isa [cold|warm [MxNxK]]]
// cold (the default): as in a network, where A was just written, and weights and C come from beyond the second-level
// cache; warm: the product alone, again and again. Blocks are those of the machine's caches. Prints the table and the
// worst ten. Built by hand:
//   g++ -std=c++20 -O2 -Isrc -Ibuild/generated src/kernels/gemm/sweep.bench.cc build/libmica_runtime.a -lpthread
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "device/cpu/machine.h"
#include "kernels/gemm/aligned_floats.h"
#include "kernels/gemm/gemm.h"
#include "kernels/pack/pack.h"

namespace {

using mica::AlignedFloats;

constexpr int64_t kWidths[] = {64, 96, 128, 160, 192, 256, 320, 384, 512, 576, 768, 960, 1024, 1280};
constexpr int64_t kHeights[] = {49, 50, 98, 100, 196, 197, 400, 784, 1600, 3136, 12544};
constexpr int kRuns = 7;
constexpr size_t kEvictFloats = 2 << 20;  // 8 MiB: beyond every second-level cache

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Sweep {
  Sweep(const mica::Machine& machine, bool is_cold)
      : isa(machine.isa),
        limits{.l2_bytes = static_cast<int64_t>(machine.l2)},
        cold(is_cold),
        kernels(mica::gemm_kernels(machine.isa)) {}

  double peak() const {
    float sink[16];
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const double start = now();
      kernels.fma_loop(5000, sink);
      best = std::min(best, now() - start);
    }
    return static_cast<double>(kernels.fma_loop_flops) * 5000 / best;
  }

  // The median of the runs, as a share of the peak beside them.
  double share(int64_t m, int64_t n, int64_t k) {
    mica::GemmArgs args;
    args.problem = {.m = m, .n = n, .k = k};
    args.choice = choose_gemm(args.problem, isa, limits);
    const AlignedFloats scratch(static_cast<size_t>(args.choice.scratch_floats));
    args.a = a.data(), args.a_stride = k, args.b = b.data(), args.c = c.data(), args.c_stride = n;
    args.epilogue = {.bias = bias.data(), .activation = mica::Activation::kClip, .a = 0.0f, .b = __builtin_inff()};
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const int repeats = cold ? 1 : static_cast<int>(std::clamp(2e7 / flops, 1.0, 100.0));
    std::vector<double> shares;
    for (int run = 0; run < kRuns; ++run) {
      if (cold) {
        for (size_t i = 0; i < kEvictFloats; i += 16) evict.data()[i] += 1;
        std::memcpy(a.data(), source.data(), static_cast<size_t>(m * k) * 4);
      }
      const double ceiling = peak(), start = now();
      for (int i = 0; i < repeats; ++i) kernels.run(args, 0, args.choice.tasks, scratch.data());
      const double took = now() - start;
      shares.push_back(flops * repeats / took / ceiling);
    }
    std::sort(shares.begin(), shares.end());
    return shares[kRuns / 2];
  }

  mica::Isa isa;
  mica::GemmLimits limits;
  bool cold;
  const mica::GemmKernels& kernels;
  AlignedFloats a{12544 * 1280}, source{12544 * 1280}, b{static_cast<size_t>(mica::panels_size(1280, 1280))},
      c{12544 * 1280}, bias{1280};
  AlignedFloats evict{kEvictFloats};
};

}  // namespace

int main(int argc, char** argv) {
  auto machine = mica::describe_machine({.isa = argc > 1 ? argv[1] : "", .threads = 1});
  if (!machine.ok()) return 2;
  Sweep sweep(*machine, argc <= 2 || std::string(argv[2]) != "warm");
  if (argc > 3) {
    for (int i = 3; i < argc; ++i) {
      long m = 0, n = 0, k = 0;
      if (std::sscanf(argv[i], "%ldx%ldx%ld", &m, &n, &k) != 3) return 2;
      std::printf("%6ld x %4ld x %4ld  %5.3f\n", m, n, k, sweep.share(m, n, k));
    }
    return 0;
  }
  struct Found {
    double share;
    int64_t m, n, k;
  };
  std::vector<Found> all;
  for (int64_t m : kHeights) {
    std::printf("M = %ld: columns N, rows K\n     ", m);
    for (int64_t n : kWidths) std::printf(" %5ld", n);
    for (int64_t k : kWidths) {
      std::printf("\n%5ld", k);
      for (int64_t n : kWidths) {
        all.push_back({sweep.share(m, n, k), m, n, k});
        std::printf(" %5.3f", all.back().share);
      }
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  std::sort(all.begin(), all.end(), [](const Found& x, const Found& y) { return x.share < y.share; });
  for (size_t i = 0; i < 10; ++i)
    std::printf("worst %6ld x %4ld x %4ld (MxNxK)  %5.3f\n", all[i].m, all[i].n, all[i].k, all[i].share);
  const auto met = std::count_if(all.begin(), all.end(), [](const Found& f) { return f.share >= 0.9; });
  std::printf("%zu products: median %.3f, %ld of at least 0.9\n", all.size(), all[all.size() / 2].share,
              static_cast<long>(met));
}
