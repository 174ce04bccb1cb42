// Pointwise products of common networks as a share of the measured peak: gemm_bench [isa]. Built by hand:
//   g++ -std=c++20 -O2 -Isrc -Ibuild/generated src/kernels/gemm/gemm.bench.cc build/libmica_runtime.a -lpthread
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "device/cpu/isa_support.h"
#include "kernels/gemm/aligned_floats.h"
#include "kernels/gemm/gemm.h"
#include "kernels/pack/pack.h"

namespace {

using mica::AlignedFloats;
using mica::GemmArgs;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F>
double least_time(F f, int runs) {
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    const double start = now();
    f();
    best = std::min(best, now() - start);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  auto chosen = mica::choose_isa(argc > 1 ? argv[1] : "");
  if (!chosen.ok()) return 2;
  const mica::Isa isa = *chosen;
  const mica::GemmKernels& kernels = mica::gemm_kernels(isa);
  const int64_t shapes[][3] = {{12544, 64, 32}, {3136, 128, 64},  {3136, 128, 128}, {784, 256, 128},  {784, 256, 256},
                               {196, 512, 256}, {196, 512, 512},  {49, 1024, 512},  {49, 1024, 1024}, {3136, 24, 144},
                               {784, 32, 192},  {196, 96, 576},   {49, 160, 960},   {49, 320, 960},   {3136, 256, 64},
                               {784, 128, 512}, {196, 256, 1024}, {49, 512, 2048},  {512, 512, 512},  {1, 1000, 1280}};
  float sink[16];
  for (const auto& s : shapes) {
    const int64_t m = s[0], n = s[1], k = s[2];
    const double peak = kernels.fma_loop_flops * 2e5 / least_time([&] { kernels.fma_loop(200000, sink); }, 5);
    AlignedFloats a(m * k), b(mica::panels_size(k, n)), c(m * n), bias(n);
    GemmArgs args;
    args.problem = {.m = m, .n = n, .k = k};
    args.choice = choose_gemm(args.problem, isa, {.l2_bytes = 2 << 20});
    args.a = a.data(), args.a_stride = k, args.b = b.data(), args.c = c.data(), args.c_stride = n;
    args.epilogue = {.bias = bias.data(), .activation = mica::Activation::kClip, .a = 0.0f, .b = 6.0f};
    const double flops = 2.0 * m * n * k;
    const double t = least_time([&] { kernels.run(args, 0, args.choice.tasks, nullptr); },
                                static_cast<int>(std::clamp(3e9 / flops, 10.0, 2000.0)));
    std::printf("%6ld %5ld %5ld %8.1f us %6.1f GFLOP/s %5.1f %% of %.0f\n", m, n, k, t * 1e6, flops / t / 1e9,
                100 * flops / t / peak, peak / 1e9);
  }
  // Attention: queries by keys, and weights by values, of three heads.
  for (bool scores : {true, false}) {
    const int64_t length = 197, width = 64, heads = 3, m = length, n = scores ? length : width,
                  k = scores ? width : length;
    AlignedFloats a(heads * m * 256), b(heads * length * 256), c(heads * m * n);
    GemmArgs args;
    args.problem = {.m = m,
                    .n = n,
                    .k = k,
                    .batch = {1, heads},
                    .b_form = scores ? mica::MatrixForm::kTransposed : mica::MatrixForm::kRows};
    args.choice = choose_gemm(args.problem, isa, {.l2_bytes = 2 << 20});
    args.a = a.data(), args.a_stride = scores ? 192 : length, args.a_batch[1] = scores ? width : m * length;
    args.b = b.data(), args.b_stride = 192, args.b_batch[1] = width;
    args.c = c.data(), args.c_stride = n, args.c_batch[1] = m * n;
    args.alpha = scores ? 0.125f : 1.0f;
    AlignedFloats scratch(args.choice.scratch_floats);
    const double t = least_time([&] { kernels.run(args, 0, args.choice.tasks, scratch.data()); }, 500);
    char text[256];
    text[print(args.problem, args.choice, text, sizeof text)] = 0;
    std::printf("attention %8.1f us %6.1f GFLOP/s %s\n", t * 1e6, 2.0 * heads * m * n * k / t / 1e9, text);
  }
}
