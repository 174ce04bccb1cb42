// Convolutions from planes to planes against their definition, and where they are chosen.
#include "kernels/conv/conv_problem.test.h"
#include "kernels/conv/cost.h"

namespace mica {
namespace {

class Filter : public testing::TestWithParam<Isa> {};

// With a first-level cache that holds few lines, and one task at a time: the same bits.
void check_filter(ConvCase& c, Isa isa, int64_t in_gap = 0, int64_t out_gap = 0) {
  c.to_planes(in_gap);
  c.out_to_planes(out_gap);
  std::vector<float> want;
  for (int64_t l1_bytes : {1 << 10, 32 << 10}) {
    c.y.assign(c.y.size(), ConvCase::kUntouched);
    ASSERT_NO_FATAL_FAILURE(c.run(isa, ConvAlgorithm::kFilter, {.l1_bytes = l1_bytes, .threads = 3}, 1));
    ASSERT_NO_FATAL_FAILURE(c.check());
    if (want.empty()) want = c.y;
    ASSERT_EQ(c.y, want) << l1_bytes;
  }
}

TEST_P(Filter, GroupsChannelsAndSizes) {
  const struct {
    int64_t groups, in, out;
  } kChannels[] = {{1, 1, 1}, {1, 1, 6}, {1, 3, 3}, {1, 8, 5}, {3, 3, 3}, {2, 4, 8}, {5, 5, 10}, {20, 20, 20}};
  for (const auto& n : kChannels)
    for (int64_t size : {1, 3, 14, 15, 31, 37})
      for (int64_t kernel : {1, 2, 3, 5}) {
        if (kernel > size + 2 * (kernel / 2)) continue;
        ConvCase c = square_case(size, n.in, n.out, kernel, 1, 1, kernel / 2);
        c.p.groups = n.groups;
        c.finish();
        c.epilogue.bias = size % 2 ? c.bias.data() : nullptr;
        if (kernel == 3) c.epilogue.activation = Activation::kTanh;
        if (kernel == 2) c.epilogue = {.bias = c.bias.data(), .activation = Activation::kClip, .a = -0.25f, .b = 2.0f};
        SCOPED_TRACE(testing::Message() << n.groups << " groups, " << n.in << " to " << n.out << ", " << size
                                        << " pixels, k=" << kernel);
        ASSERT_NO_FATAL_FAILURE(check_filter(c, GetParam(), size == 15 ? 3 : 0, size == 37 ? 5 : 0));
      }
}

// Volumes, lines down the picture, dilations, strides along rows and depths, padding that cuts pixels off or holds
// whole lines.
TEST_P(Filter, AnyDepthStrideAndPadding) {
  for (int64_t width : {1, 16, 45})
    for (int64_t depth : {1, 4})
      for (int64_t pad : {-3, 0, 2, 20})
        for (int64_t stride : {1, 2, 3}) {
          const int64_t across = width > 16 ? 2 : 1;
          if (21 + 2 * pad < 8 * stride + 1 || (across == 2 && width + 2 * pad < 4)) continue;
          ConvCase c;
          c.p = {.images = 2,
                 .groups = 3,
                 .in_channels = 6,
                 .out_channels = 3,
                 .in = {depth, 21, width},
                 .kernel = {depth > 1 ? 2 : 1, 9, across},
                 .stride = {stride, stride, 1},
                 .dilation = {depth > 1 ? 2 : 1, stride, 3},
                 .pad = {depth > 1 ? 1 : 0, pad, across == 2 ? pad : 0}};
          set_out(c.p, pad);
          c.p.out[0] = depth > 1 ? 3 / stride + 1 : 1;
          c.finish();
          SCOPED_TRACE(testing::Message() << width << " depth=" << depth << " pad=" << pad << " s=" << stride);
          ASSERT_NO_FATAL_FAILURE(check_filter(c, GetParam(), 2, 1));
        }
}

// What a tap meets passes on, whether the tap is a number or not; what none meets stays away.
TEST_P(Filter, SpecialValues) {
  ConvCase c = square_case(20, 1, 1, 3, 1, 1, 1);
  c.finish();
  c.to_planes(0);
  c.out_to_planes(0);
  c.x[7 * 22 + 9] = std::numeric_limits<float>::quiet_NaN();
  c.x[15 * 22 + 20] = std::numeric_limits<float>::infinity();
  c.run(GetParam(), ConvAlgorithm::kFilter);
  for (int64_t y = 0; y < 20; ++y)
    for (int64_t x = 0; x < 22; ++x) {
      const float out = c.y[y * 22 + x];
      const bool by_nan = std::abs(y - 7) <= 1 && std::abs(x - 9) <= 1;
      const bool by_infinity = std::abs(y - 15) <= 1 && std::abs(x - 20) <= 1;
      EXPECT_EQ(std::isnan(out), by_nan) << y << " " << x;
      EXPECT_EQ(std::isinf(out), by_infinity) << y << " " << x;
    }
}

TEST(FilterChoice, FewPlanesWithoutAResidual) {
  const auto chosen = [](int64_t size, int64_t groups, int64_t channels, bool planes) {
    ConvCase c = square_case(size, channels, channels, 3, 1, 1, 1);
    c.p.groups = groups;
    c.finish();
    if (planes) {
      c.to_planes(0);
      c.out_to_planes(0);
    }
    c.p.has_residual = false;
    return choose_conv_algorithm(c.p, Isa::kAvx512, {}) == ConvAlgorithm::kFilter;
  };
  EXPECT_TRUE(chosen(224, 3, 3, true));
  EXPECT_TRUE(chosen(224, 1, 3, true));
  EXPECT_FALSE(chosen(224, 3, 3, false));
  EXPECT_FALSE(chosen(224, 1, 9, true));
  ConvCase c = square_case(64, 1, 1, 3, 1, 1, 1);
  c.finish();
  EXPECT_TRUE(conv_fits(c.p, ConvAlgorithm::kFilter));  // one channel is a plane
  c.p.has_residual = true;
  EXPECT_FALSE(conv_fits(c.p, ConvAlgorithm::kFilter));
  c.p.has_residual = false;
  c.p.stride[2] = 2;
  EXPECT_FALSE(conv_fits(c.p, ConvAlgorithm::kFilter));
}

// A session of bounded shapes has room for the largest picture.
TEST(FilterChoice, SmallerPicturesNeedNoMoreScratch) {
  const auto floats = [](int64_t height, int64_t width) {
    ConvCase c;
    c.p = {.groups = 3, .in_channels = 3, .out_channels = 3, .in = {1, height, width}, .kernel = {1, 5, 3}};
    c.p.pad[1] = 2, c.p.pad[2] = 1;
    c.p.out[1] = height, c.p.out[2] = width;
    c.p.in_view = c.p.out_view = ConvCase::planes_of(c.p.in, 3, 0);
    return choose_conv(c.p, ConvAlgorithm::kFilter, Isa::kPortable, {}).scratch_floats;
  };
  for (int64_t height : {1, 2, 3, 9, 100, 500})
    for (int64_t width = 1; width < 700; ++width) {
      ASSERT_LE(floats(height, width), floats(height, width + 1)) << height << " " << width;
      ASSERT_LE(floats(height, width), floats(height + 1, width)) << height << " " << width;
    }
}

INSTANTIATE_TEST_SUITE_P(Sets, Filter, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
