// Convolutions of common networks by every algorithm that fits, as shares of the peak measured around them:
//   conv_bench [isa [text]]      only lines that contain the text. Built by hand:
//   g++ -std=c++20 -O2 -Isrc -Ibuild/generated src/kernels/conv/conv.bench.cc build/libmica_runtime.a -lpthread
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "device/cpu/isa_support.h"
#include "kernels/conv/cost.h"

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F>
double least_time(F f, double seconds) {
  double best = 1e9;
  const double end = now() + seconds;
  for (int i = 0; i < 5 || now() < end; ++i) {
    const double start = now();
    f();
    best = std::min(best, now() - start);
  }
  return best;
}

double peak_of(const mica::GemmKernels& kernels) {
  float sink[16];
  return static_cast<double>(kernels.fma_loop_flops) * 1e4 / least_time([&] { kernels.fma_loop(10000, sink); }, 0.01);
}

struct AlignedFloats {
  explicit AlignedFloats(size_t n, double deviation = 1)
      : size(n), p(static_cast<float*>(std::aligned_alloc(64, (n * 4 + 127) / 64 * 64)), std::free) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, deviation);
    std::generate_n(p.get(), n, [&] { return normal(random); });
  }
  float* data() const { return p.get(); }
  size_t size;
  std::unique_ptr<float, void (*)(void*)> p;
};

struct Shape {
  int64_t size, in, out, kernel, stride, groups, height = kernel;
};

mica::ConvProblem problem_of(const Shape& s) {
  mica::ConvProblem p{.groups = s.groups,
                      .in_channels = s.in,
                      .out_channels = s.out,
                      .in = {1, s.size, s.size},
                      .kernel = {1, s.height, s.kernel},
                      .stride = {1, s.stride, s.stride},
                      .pad = {0, s.height / 2, s.kernel / 2}};
  for (int a = 0; a < 3; ++a) p.out[a] = (p.in[a] + 2 * p.pad[a] - p.kernel[a]) / p.stride[a] + 1;
  p.in_view = mica::dense_view(p.in, s.in);
  p.out_view = mica::dense_view(p.out, s.out);
  return p;
}

const Shape kShapes[] = {
    {224, 3, 32, 3, 2, 1},     {224, 3, 64, 7, 2, 1},      {56, 64, 64, 3, 1, 1},      {28, 128, 128, 3, 1, 1},
    {14, 256, 256, 3, 1, 1},   {7, 512, 512, 3, 1, 1},     {112, 32, 32, 3, 1, 1},     {56, 32, 32, 3, 1, 1},
    {56, 16, 16, 3, 1, 1},     {28, 64, 64, 3, 1, 1},      {56, 64, 128, 3, 2, 1},     {28, 192, 32, 5, 1, 1},
    {56, 64, 128, 1, 2, 1},    {112, 32, 32, 3, 1, 32},    {112, 96, 96, 3, 2, 96},    {56, 144, 144, 3, 1, 144},
    {14, 512, 512, 3, 1, 512}, {28, 120, 120, 5, 1, 120},  {7, 960, 960, 3, 1, 960},   {14, 192, 192, 7, 1, 192},
    {112, 64, 64, 3, 2, 64},   {17, 128, 128, 7, 1, 1, 1}, {17, 192, 192, 1, 1, 1, 7}, {8, 384, 384, 3, 1, 1, 1},
    {35, 48, 64, 5, 1, 1},     {35, 96, 96, 3, 1, 1},      {26, 128, 256, 3, 1, 1},    {13, 256, 512, 3, 1, 1},
    {104, 32, 64, 3, 1, 1},    {112, 128, 128, 3, 1, 1},   {56, 64, 64, 3, 1, 32},     {56, 128, 128, 3, 1, 32},
    {56, 128, 128, 3, 2, 32},  {28, 256, 256, 3, 1, 32},   {56, 256, 256, 3, 2, 32},   {14, 512, 512, 3, 1, 32},
    {28, 512, 512, 3, 2, 32},  {7, 1024, 1024, 3, 1, 32},  {14, 1024, 1024, 3, 2, 32}, {64, 48, 96, 7, 2, 48},
    {28, 64, 256, 3, 1, 64},   {28, 96, 48, 9, 1, 48},     {28, 192, 192, 3, 1, 64},   {28, 64, 128, 3, 1, 16},
    {14, 384, 192, 3, 1, 24},  {28, 192, 192, 3, 1, 8},    {224, 32, 3, 9, 1, 1},      {224, 64, 3, 3, 1, 1},
    {112, 32, 1, 5, 1, 1},     {224, 32, 12, 3, 1, 1}};

}  // namespace

int main(int argc, char** argv) {
  auto chosen = mica::choose_isa(argc > 1 ? argv[1] : "");
  if (!chosen.ok()) return 2;
  const mica::Isa isa = *chosen;
  double peak = 0;
  for (const Shape& s : kShapes) {
    const mica::ConvProblem p = problem_of(s);
    AlignedFloats x(p.in_view.image), y(p.out_view.image), first(p.out_view.image), bias(s.out),
        w(s.out * s.in / s.groups * s.height * s.kernel, 1 / std::sqrt(s.in / s.groups * s.height * s.kernel));
    const double flops = 2.0 * p.out_view.image * s.in / s.groups * s.height * s.kernel;
    double direct = 0;
    for (auto algorithm :
         {mica::ConvAlgorithm::kImplicit, mica::ConvAlgorithm::kPointwise, mica::ConvAlgorithm::kDepthwise,
          mica::ConvAlgorithm::kGrouped, mica::ConvAlgorithm::kSpread, mica::ConvAlgorithm::kWinograd4,
          mica::ConvAlgorithm::kWinograd6, mica::ConvAlgorithm::kWinograd8}) {
      if (!conv_fits(p, algorithm) ||
          (s.groups == s.in && s.groups == s.out && algorithm == mica::ConvAlgorithm::kImplicit))
        continue;
      mica::ConvArgs args{
          .problem = p, .choice = choose_conv(p, algorithm, isa, {.l2_bytes = 2 << 20}), .x = x.data(), .y = y.data()};
      args.epilogue = {.bias = bias.data(), .activation = mica::Activation::kClip, .a = -1e9f, .b = 1e9f};
      AlignedFloats packed(packed_conv_size(p, algorithm)), scratch(args.choice.scratch_floats);
      pack_conv(p, algorithm, w.data(), packed.data());
      args.w = packed.data();
      char text[256];
      text[print(p, args.choice, text, sizeof text)] = 0;
      if (argc > 2 && !std::strstr(text, argv[2])) continue;
      double t = 1e9;
      for (int round = 0; round < 5; ++round) {
        peak = std::max(peak, peak_of(mica::gemm_kernels(isa)));
        t = std::min(t, least_time([&] { conv_kernels(isa).run(args, 0, args.choice.tasks, scratch.data()); }, 0.05));
      }
      double off = 0;
      if (direct == 0) {
        direct = t;
        std::copy_n(y.data(), y.size, first.data());
      }
      for (size_t i = 0; i < y.size; ++i)
        if (const double apart = std::fabs(y.data()[i] - first.data()[i]); std::isnan(apart) || apart > off)
          off = apart;
      const mica::ConvCandidate predicted =
          mica::conv_candidates(p, isa, {.l2_bytes = 2 << 20}).list[static_cast<int>(algorithm) - 1];
      const double cycles = t * peak / static_cast<double>(mica::gemm_kernels(isa).fma_loop_flops) * 6;
      std::printf("%8.1f us %6.1f GFLOP/s %5.1f %% %.2fx off %.1e bound %.1e  %7.0f kcycles of %7.0f%s  %s\n", t * 1e6,
                  flops / t / 1e9, flops / t / peak * 100, direct / t, off, predicted.error, cycles / 1e3,
                  predicted.cycles / 1e3,
                  choose_conv_algorithm(p, isa, {.l2_bytes = 2 << 20}) == algorithm ? " *" : "  ", text);
    }
  }
}
