// Transposed convolutions against their definition: every input pixel is scattered through every tap.
#include "kernels/conv/transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device/cpu/every_isa.h"
#include "kernels/plain.test.h"

namespace mica {
namespace {

constexpr float kUntouched = -12345.0f;

struct TransposeCase {
  ConvTransposeProblem p;
  std::vector<float> x, w, bias, y;
  double slack = 1;  // times the bound of a plain sum; more for phases that are transformed

  void finish(int64_t output_padding) {
    for (int a = 0; a < 3; ++a)
      p.out[a] = (p.in[a] - 1) * p.stride[a] + (p.kernel[a] - 1) * p.dilation[a] + 1 - p.pad[a] - p.pad[a] / 2 +
                 (p.kernel[a] > 1 ? output_padding : 0);
    p.in_view = dense_view(p.in, p.in_channels + 1);
    p.out_view = dense_view(p.out, p.out_channels + 2);
    UniformFloats random(5);
    random.fill(x, p.images * p.in_view.image);
    random.fill(w, p.in_channels * p.out_channels / p.groups * p.kernel[0] * p.kernel[1] * p.kernel[2]);
    random.fill(bias, p.out_channels);
    y.assign(p.images * p.out_view.image, kUntouched);
  }

  // Has every phase that can be transformed so; returns how many.
  int transform(ConvAlgorithm algorithm) {
    int count = 0;
    for (int64_t i = 0; i < std::min(conv_phase_count(p), kMostTransformedPhases); ++i) {
      const ConvProblem phase = conv_phase(p, i).problem;
      if (phase.in_channels == 0 || !conv_fits(phase, algorithm)) continue;
      p.transform[i] = algorithm;
      ++count;
    }
    slack = 16;
    return count;
  }

  void run(Isa isa, int threads) {
    std::vector<float> packed(packed_conv_transpose_size(p), std::numeric_limits<float>::quiet_NaN());
    pack_conv_transpose(p, w.data(), packed.data(), conv_kernels(isa).winograd_weights);
    if (slack == 1) {
      std::vector<float> back(w.size());
      unpack_conv_transpose(p, packed.data(), back.data());
      ASSERT_EQ(back, w);
    }
    ConvArgs whole{.x = x.data(), .w = packed.data(), .y = y.data(), .epilogue = {.bias = bias.data()}};
    std::vector<ConvArgs> phases;
    int64_t tasks = 0, scratch_floats = 0;
    for (int64_t i = 0; i < conv_phase_count(p); ++i) {
      phases.push_back(conv_phase_args(p, whole, i, isa, {.threads = threads}));
      tasks += phases.back().choice.tasks;
      scratch_floats = std::max(scratch_floats, phases.back().choice.scratch_floats);
    }
    std::vector<float> scratch(scratch_floats + 16);
    float* aligned = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    for (int64_t t = 0; t < tasks; t += 3)
      run_phases(conv_kernels(isa), phases.data(), static_cast<int64_t>(phases.size()), t, std::min(t + 3, tasks),
                 aligned);
  }

  int64_t at(const ConvView& v, int64_t i, const int64_t (&o)[3]) const {
    return i * v.image + o[0] * v.depth + o[1] * v.row + o[2] * v.pixel;
  }
  // Adds x[i] · w through every tap to the outputs of one image.
  MICA_PLAIN_LOOP void scatter(int64_t image, const int64_t (&i)[3], std::vector<double>& want,
                               std::vector<double>& size) const {
    const int64_t in_group = p.in_channels / p.groups, out_group = p.out_channels / p.groups;
    const float* weights = w.data();
    double *wanted = want.data(), *sizes = size.data();
    for (int64_t a = 0; a < p.kernel[0]; ++a)
      for (int64_t b = 0; b < p.kernel[1]; ++b)
        for (int64_t c = 0; c < p.kernel[2]; ++c) {
          const int64_t o[3] = {i[0] * p.stride[0] - p.pad[0] + a * p.dilation[0],
                                i[1] * p.stride[1] - p.pad[1] + b * p.dilation[1],
                                i[2] * p.stride[2] - p.pad[2] + c * p.dilation[2]};
          if (o[0] < 0 || o[1] < 0 || o[2] < 0 || o[0] >= p.out[0] || o[1] >= p.out[1] || o[2] >= p.out[2]) continue;
          const float* from = x.data() + at(p.in_view, image, i);
          const int64_t to = at(p.out_view, image, o);
          for (int64_t in = 0; in < p.in_channels; ++in)
            for (int64_t n = 0; n < out_group; ++n) {
              const int64_t tap = (((in * out_group + n) * p.kernel[0] + a) * p.kernel[1] + b) * p.kernel[2] + c;
              const double term = static_cast<double>(from[in]) * weights[tap];
              const int64_t place = to + in / in_group * out_group + n;
              wanted[place] += term;
              sizes[place] += std::fabs(term);
            }
        }
  }
  void check() const {
    std::vector<double> want(y.size()), size(y.size(), 1.0);
    for (int64_t i = 0; i < p.images; ++i)
      for (int64_t a = 0; a < p.in[0]; ++a)
        for (int64_t b = 0; b < p.in[1]; ++b)
          for (int64_t c = 0; c < p.in[2]; ++c) scatter(i, {a, b, c}, want, size);
    const double length = static_cast<double>(p.kernel[0] * p.kernel[1] * p.kernel[2] * p.in_channels + 4);
    for (size_t j = 0; j < y.size(); ++j) {
      const int64_t n = static_cast<int64_t>(j) % p.out_view.pixel;
      if (n >= p.out_channels) {
        ASSERT_EQ(y[j], kUntouched);
        continue;
      }
      ASSERT_TRUE(std::fabs(y[j] - want[j] - bias[n]) <= slack * length * 7e-8 * size[j]) << j;
    }
  }
};

class ConvTranspose : public testing::TestWithParam<Isa> {};

TEST_P(ConvTranspose, Shapes) {
  for (int64_t kernel : {1, 2, 3, 4, 5})
    for (int64_t stride : {1, 2, 3})
      for (int64_t dilation : {1, 2, 3})
        for (int64_t pad : {0, 1, 2})
          for (int64_t groups : {1, 2, 6}) {
            if (pad > (kernel - 1) * dilation) continue;
            TransposeCase c;
            c.p = {.images = 2,
                   .groups = groups,
                   .in_channels = 6,
                   .out_channels = groups == 6 ? 6 : 20,
                   .in = {1, 5, 7},
                   .kernel = {1, kernel, kernel},
                   .stride = {1, stride, stride},
                   .dilation = {1, dilation, dilation},
                   .pad = {0, pad, pad}};
            c.finish(stride - 1);
            SCOPED_TRACE(testing::Message()
                         << "k=" << kernel << " s=" << stride << " d=" << dilation << " p=" << pad << " g=" << groups);
            c.run(GetParam(), groups);
            ASSERT_NO_FATAL_FAILURE(c.check());
          }
}

// Phases by Winograd's algorithms, beside others that have one tap or none.
TEST_P(ConvTranspose, TransformedPhases) {
  int phases = 0;
  for (ConvAlgorithm algorithm : {ConvAlgorithm::kWinograd4, ConvAlgorithm::kWinograd6, ConvAlgorithm::kWinograd8})
    for (int64_t kernel : {2, 3, 4, 5, 6})
      for (int64_t stride : {1, 2, 3})
        for (int64_t groups : {1, 2}) {
          TransposeCase c;
          c.p = {.images = 2,
                 .groups = groups,
                 .in_channels = 10,
                 .out_channels = 38,
                 .in = {1, 7, 11},
                 .kernel = {1, kernel, kernel},
                 .stride = {1, stride, stride},
                 .pad = {0, kernel / 2, kernel / 2}};
          c.finish(stride - 1);
          SCOPED_TRACE(testing::Message()
                       << name_of(algorithm) << " k=" << kernel << " s=" << stride << " g=" << groups);
          phases += c.transform(algorithm);
          c.run(GetParam(), 2);
          ASSERT_NO_FATAL_FAILURE(c.check());
        }
  EXPECT_GT(phases, 100);
}

// Large layers are transformed, memory permitting; depthwise ones and those of few channels are not.
TEST(ConvTransposeChoice, ByCost) {
  TransposeCase c;
  c.p = {.in_channels = 256,
         .out_channels = 256,
         .in = {1, 28, 28},
         .kernel = {1, 4, 4},
         .stride = {1, 2, 2},
         .pad = {0, 1, 1}};
  c.finish(0);
  choose_transforms(c.p, Isa::kAvx512, {}, {.is_phase = true});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(is_winograd(c.p.transform[i])) << i;
  choose_transforms(c.p, Isa::kAvx512, {}, {.low_memory = true, .is_phase = true});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(c.p.transform[i], ConvAlgorithm::kAuto) << i;
  c.p.groups = 256;
  choose_transforms(c.p, Isa::kAvx512, {}, {.is_phase = true});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(c.p.transform[i], ConvAlgorithm::kAuto) << i;
}

TEST_P(ConvTranspose, ThreeAxes) {
  TransposeCase c;
  c.p = {.in_channels = 5,
         .out_channels = 17,
         .in = {3, 4, 5},
         .kernel = {3, 2, 4},
         .stride = {2, 3, 2},
         .pad = {1, 0, 1}};
  c.finish(1);
  c.run(GetParam(), 4);
  ASSERT_NO_FATAL_FAILURE(c.check());
}

INSTANTIATE_TEST_SUITE_P(Every, ConvTranspose, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
