// Pictures whose channels are planes: the bits of the same convolution with adjacent channels.
#include "kernels/conv/conv_problem.test.h"

namespace mica {
namespace {

class Planes : public testing::TestWithParam<Isa> {};

// With the first-level cache that says how many lines' input is copied at a time. Large pictures are compared alone:
// their sums in doubles would take most of the time of all these tests.
void compare(ConvCase& c, Isa isa, bool large = false) {
  c.run(isa, ConvAlgorithm::kImplicit);
  const std::vector<float> want = c.y;
  c.to_planes(3);
  ASSERT_TRUE(reads_planes(c.p));
  for (int64_t l1_bytes : {1 << 10, 48 << 10}) {
    c.y.assign(c.y.size(), ConvCase::kUntouched);
    const bool half_units = l1_bytes == 1 << 10;
    c.run(isa, ConvAlgorithm::kImplicit, {.l1_bytes = l1_bytes, .half_units = half_units, .threads = 3}, 1);
    ASSERT_EQ(c.y, want) << l1_bytes;
  }
  if (!large) {
    ASSERT_NO_FATAL_FAILURE(c.check());
  }
}

// With every epilogue.
TEST_P(Planes, GiveTheSameBits) {
  for (int64_t size : {5, 22, 37, 70})
    for (int64_t in : {2, 3, 8})
      for (int64_t out : {3, 16, 24, 25, 40})
        for (int64_t kernel : {1, 3, 7})
          for (int64_t stride : {1, 2, 4}) {
            if (kernel > size) continue;
            const int64_t dilation = kernel == 3 && stride == 1 ? 2 : 1;
            ConvCase c = square_case(size, in, out, kernel, stride, dilation, kernel / 2);
            c.finish(0, in == 3 ? 5 : 0);
            c.epilogue.bias = c.bias.data();
            if (out == 24) c.epilogue.residual = c.residual.data();
            c.epilogue.residual_last = in == 2;
            if (in == 8) c.epilogue.activation = Activation::kTanh;
            if (in == 3) c.epilogue = {.bias = c.bias.data(), .activation = Activation::kClip, .a = -0.25f, .b = 2.0f};
            SCOPED_TRACE(testing::Message()
                         << size << " c=" << in << " n=" << out << " k=" << kernel << " s=" << stride);
            ASSERT_NO_FATAL_FAILURE(compare(c, GetParam(), size == 70));
          }
}

// A line of one channel is planes for one thread and rows of a product for several, to the same bits.
TEST_P(Planes, ALineOfNumbersIsShared) {
  for (int64_t kernel : {1, 3, 25})
    for (int64_t stride : {1, 2, 5})
      for (int64_t pad : {0, 2, 12}) {
        ConvCase c;
        c.p = {.images = 1,
               .in_channels = 1,
               .out_channels = 20,
               .in = {1, 1, 9011},
               .out = {1, 1, (9011 + 2 * pad - kernel) / stride + 1},
               .kernel = {1, 1, kernel},
               .stride = {1, 1, stride},
               .pad = {0, 0, pad}};
        c.finish();
        c.epilogue.bias = c.bias.data();
        const GemmLimits one{.threads = 1}, two{.threads = 2};
        const ConvChoice alone = choose_conv(c.p, ConvAlgorithm::kImplicit, GetParam(), one),
                         shared = choose_conv(c.p, ConvAlgorithm::kImplicit, GetParam(), two);
        EXPECT_EQ(alone.planes, reads_planes(c.p));
        EXPECT_FALSE(shared.planes);
        if (kernel > 1 && stride == 1) {
          EXPECT_GE(shared.tasks, 2);
        }
        c.run(GetParam(), ConvAlgorithm::kImplicit, one, 1);
        const std::vector<float> want = c.y;
        c.y.assign(c.y.size(), ConvCase::kUntouched);
        c.run(GetParam(), ConvAlgorithm::kImplicit, two, 1);
        ASSERT_EQ(c.y, want) << kernel << " " << stride << " " << pad;
        ASSERT_NO_FATAL_FAILURE(c.check());
      }
}

// Depths that are apart too, and padding that cuts pixels off, or holds whole tiles and lines.
TEST_P(Planes, AnyDepthAndPadding) {
  for (int64_t width : {1, 30, 61})
    for (int64_t depth : {1, 4})
      for (int64_t pad : {-3, -1, 0, 2, 40})
        for (int64_t stride : {1, 2, 3}) {
          ConvCase c;
          c.p = {.images = 2,
                 .in_channels = 3,
                 .out_channels = 20,
                 .in = {depth, 11, width},
                 .kernel = {depth > 1 ? 2 : 1, 3, 2},
                 .stride = {stride, stride, stride},
                 .dilation = {depth > 1 ? 2 : 1, 1, 2},
                 .pad = {depth > 1 ? 1 : 0, pad, pad}};
          if (width + 2 * pad < 3) continue;
          set_out(c.p, pad);
          c.finish();
          if (stride != 2) c.epilogue = {.bias = c.bias.data(), .activation = Activation::kClip, .a = -1, .b = 1};
          SCOPED_TRACE(testing::Message() << width << " depth=" << depth << " pad=" << pad << " s=" << stride);
          ASSERT_NO_FATAL_FAILURE(compare(c, GetParam()));
        }
}

// The picture may be smaller than what it is planned for, and never needs more.
TEST(PlanesChoice, SmallerPicturesNeedNoMoreScratch) {
  const auto floats = [](int64_t height, int64_t width, PixelType pixels) {
    ConvProblem p{.in_channels = 3,
                  .out_channels = 16,
                  .in = {1, height, width},
                  .kernel = {1, 3, 3},
                  .stride = {1, 2, 2},
                  .pad = {0, 1, 1},
                  .in_view = {.row = width, .pixel = 1, .channel = height * width},
                  .pixels = pixels};
    set_out(p, 1);
    return choose_conv(p, ConvAlgorithm::kImplicit, Isa::kPortable, {}).scratch_floats;
  };
  for (PixelType pixels : {PixelType::kFloat, PixelType::kU8})
    for (int64_t height : {1, 2, 3, 9, 100, 500})
      for (int64_t width = 1; width < 700; ++width) {
        ASSERT_LE(floats(height, width, pixels), floats(height, width + 1, pixels)) << height << " " << width;
        ASSERT_LE(floats(height, width, pixels), floats(height + 1, width, pixels)) << height << " " << width;
      }
}

INSTANTIATE_TEST_SUITE_P(Sets, Planes, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
