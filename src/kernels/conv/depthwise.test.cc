// Depthwise convolutions: a channel is what it is, whoever its neighbours are and however many lanes a vector has.
#include "kernels/conv/conv_problem.test.h"

namespace mica {
namespace {

ConvCase make(int64_t channels, int64_t kernel, int64_t stride, int64_t width) {
  ConvCase c;
  c.p = {.groups = channels,
         .in_channels = channels,
         .out_channels = channels,
         .in = {1, 6, width},
         .kernel = {1, kernel, kernel},
         .stride = {1, stride, stride},
         .pad = {0, kernel / 2, kernel / 2}};
  set_out(c.p, kernel / 2);
  c.finish();
  return c;
}

// The first `channels` of a case, by themselves.
ConvCase part_of(const ConvCase& all, int64_t channels) {
  ConvCase c = make(channels, all.p.kernel[1], all.p.stride[1], all.p.in[2]);
  const int64_t pixels = all.p.in[1] * all.p.in[2], taps = all.p.kernel[1] * all.p.kernel[2];
  for (int64_t i = 0; i < pixels; ++i)
    std::copy_n(all.x.begin() + i * all.p.in_channels, channels, c.x.begin() + i * channels);
  std::copy_n(all.weights.begin(), channels * taps, c.weights.begin());
  std::copy_n(all.bias.begin(), channels, c.bias.begin());
  return c;
}

// On sets with fused multiply-add: what `exact` promises between them holds within each.
TEST(Depthwise, AChannelIsTheSameAmongOthers) {
  constexpr int64_t kAll = 32;
  for (Isa isa : every_isa()) {
    if (isa == Isa::kSse2 || isa == Isa::kPortable) continue;
    for (int64_t kernel : {3, 5, 7})
      for (int64_t stride : {1, 2})
        for (int64_t width : {1, 3, 8, 13}) {
          ConvCase all = make(kAll, kernel, stride, width);
          all.epilogue.bias = all.bias.data();
          all.run(isa, ConvAlgorithm::kDepthwise);
          for (int64_t channels = 1; channels <= 19; ++channels) {
            ConvCase some = part_of(all, channels);
            some.epilogue.bias = some.bias.data();
            some.run(isa, ConvAlgorithm::kDepthwise);
            const int64_t pixels = all.p.out[1] * all.p.out[2];
            for (int64_t i = 0; i < pixels * channels; ++i)
              ASSERT_EQ(some.y[i], all.y[i / channels * kAll + i % channels])
                  << name_of(isa) << " k=" << kernel << " s=" << stride << " w=" << width << " of " << channels;
          }
        }
  }
}

}  // namespace
}  // namespace mica
