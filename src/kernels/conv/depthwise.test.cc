// Depthwise convolutions: a channel is what it is, whoever its neighbours are and however many lanes a vector has.
#include "kernels/conv/conv_problem.test.h"

namespace mica {
namespace {

ConvCase make(int64_t channels, int64_t kernel, int64_t stride, int64_t width, int64_t dilation = 1) {
  ConvCase c;
  c.p = {.groups = channels,
         .in_channels = channels,
         .out_channels = channels,
         .in = {1, 6, width},
         .kernel = {1, kernel, kernel},
         .stride = {1, stride, stride},
         .dilation = {1, dilation, dilation},
         .pad = {0, kernel / 2 * dilation, kernel / 2 * dilation}};
  set_out(c.p, kernel / 2 * dilation);
  c.finish();
  return c;
}

// The first `channels` of a case, by themselves.
ConvCase part_of(const ConvCase& all, int64_t channels) {
  ConvCase c = make(channels, all.p.kernel[1], all.p.stride[1], all.p.in[2], all.p.dilation[1]);
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
      for (int64_t apart : {0, 1, 2})  // stride 1, stride 2, dilation 2
        for (int64_t width : {1, 3, 8, 13}) {
          const int64_t stride = apart == 1 ? 2 : 1;
          ConvCase all = make(kAll, kernel, stride, width, apart == 2 ? 2 : 1);
          all.epilogue.bias = all.bias.data();
          all.run(isa, ConvAlgorithm::kDepthwise);
          for (int64_t channels = 1; channels <= 19; ++channels) {
            ConvCase some = part_of(all, channels);
            some.epilogue.bias = some.bias.data();
            some.run(isa, ConvAlgorithm::kDepthwise);
            const int64_t pixels = all.p.out[1] * all.p.out[2];
            for (int64_t i = 0; i < pixels * channels; ++i)
              ASSERT_EQ(some.y[i], all.y[i / channels * kAll + i % channels])
                  << name_of(isa) << " k=" << kernel << " apart=" << apart << " w=" << width << " of " << channels;
          }
        }
  }
}

// Pictures of fewer rows than the kernel has, odd and even numbers of rows to be made in pairs, rows of which all lie
// outside; channels of two vectors, of one more and of a part of one.
TEST(Depthwise, AnyHeightAndPadding) {
  for (Isa isa : every_isa())
    for (int64_t kernel : {3, 5})
      for (int64_t stride : {1, 2})
        for (int64_t height : {1, 2, 3, 4, 7, 8})
          for (int64_t above : {0, 1, 2, 4})
            for (int64_t below : {0, 1, 3}) {
              if (height + above + below < kernel) continue;
              ConvCase c = make(51, kernel, stride, 9);
              c.p.in[1] = height;
              c.p.pad[1] = above;
              c.p.out[1] = (height + above + below - kernel) / stride + 1;
              c.finish();
              c.epilogue.bias = c.bias.data();
              SCOPED_TRACE(testing::Message() << name_of(isa) << " k=" << kernel << " s=" << stride << " h=" << height
                                              << " pad=" << above << "," << below);
              c.run(isa, ConvAlgorithm::kDepthwise);
              ASSERT_NO_FATAL_FAILURE(c.check());
            }
}

// Interlaced rows: fewer pixels than the dilation, phases of different lengths, padding that is no multiple of it,
// none, and more than the kernel reaches.
TEST(Depthwise, Dilated) {
  for (Isa isa : every_isa())
    for (int64_t kernel : {2, 3, 5, 7})
      for (int64_t dilation : {2, 3, 5})
        for (int64_t width : {1, 4, 9, 23, 40})
          for (int64_t pad : {0, 1, 4, 6, 17}) {
            const int64_t span = (kernel - 1) * dilation + 1;
            if (span > width + 2 * pad || span > 6 + 2 * pad) continue;
            ConvCase c = make(19, kernel, 1, width, dilation);
            c.p.pad[1] = c.p.pad[2] = pad;
            set_out(c.p, pad);
            c.finish(3, 5);
            c.epilogue.bias = c.bias.data();
            SCOPED_TRACE(testing::Message()
                         << name_of(isa) << " k=" << kernel << " d=" << dilation << " w=" << width << " p=" << pad);
            c.run(isa, ConvAlgorithm::kDepthwise);
            ASSERT_NO_FATAL_FAILURE(c.check());
          }
}

}  // namespace
}  // namespace mica
