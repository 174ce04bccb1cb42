// The means that convolutions tell of the rows that they write: to the bit those of the stored rows, whatever the
// instruction set, the tasks and what stands behind a row.
#include "kernels/conv/conv_problem.test.h"

namespace mica {
namespace {

class RowMeans : public testing::TestWithParam<Isa> {};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

ConvCase make(int64_t height, int64_t width, int64_t channels, int64_t groups, int64_t kernel, int64_t stride) {
  ConvCase c;
  c.p = {.images = 3,
         .groups = groups,
         .in_channels = channels,
         .out_channels = channels,
         .in = {1, height, width},
         .kernel = {1, kernel, kernel},
         .stride = {1, stride, stride},
         .pad = {0, kernel / 2, kernel / 2}};
  set_out(c.p, kernel / 2);
  return c;
}

// Four sums that pixels join by turns.
std::vector<float> means_of(const ConvCase& c) {
  std::vector<float> means;
  const ConvProblem& p = c.p;
  for (int64_t i = 0; i < p.images; ++i)
    for (int64_t z = 0; z < p.out[0]; ++z)
      for (int64_t y = 0; y < p.out[1]; ++y)
        for (int64_t n = 0; n < p.out_channels; ++n) {
          float sum[4] = {};
          for (int64_t x = 0; x < p.out[2]; ++x)
            sum[x % 4] +=
                c.y[i * p.out_view.image + z * p.out_view.depth + y * p.out_view.row + x * p.out_view.pixel + n];
          means.push_back(((sum[0] + sum[1]) + (sum[2] + sum[3])) * (1.0f / static_cast<float>(p.out[2])));
        }
  return means;
}

void expect_means(ConvCase& c, Isa isa, ConvAlgorithm algorithm) {
  const std::vector<float> plain = [&] {
    ConvCase other = c;
    other.run(isa, algorithm);
    return other.y;
  }();
  const size_t size = static_cast<size_t>(c.p.images * c.p.out[0] * c.p.out[1] * c.p.out_channels);
  for (const int64_t chunk : {1, 1 << 30}) {
    c.row_means.assign(size + 1, ConvCase::kUntouched);
    c.run(isa, algorithm, {.l1_bytes = 4096, .threads = chunk == 1 ? 3 : 1}, chunk);
    EXPECT_EQ(c.y, plain);
    EXPECT_EQ(c.row_means.back(), ConvCase::kUntouched);
    c.row_means.pop_back();
    ASSERT_EQ(c.row_means, means_of(c));
  }
}

TEST_P(RowMeans, OfDepthwise) {
  for (const int64_t width : {1, 2, 5, 18})
    for (const int64_t channels : {1, 16, 37})
      for (const int64_t kernel : {1, 3, 5})
        for (const int64_t stride : {1, 2, 3}) {
          SCOPED_TRACE(testing::Message() << width << " c=" << channels << " k=" << kernel << " s=" << stride);
          ConvCase c = make(width == 1 ? 1 : 7, width, channels, channels, kernel, stride);
          c.finish(0, channels == 37 ? 3 : 0);
          c.epilogue.bias = c.bias.data();
          ASSERT_NO_FATAL_FAILURE(expect_means(c, GetParam(), ConvAlgorithm::kDepthwise));
        }
}

TEST_P(RowMeans, OfGroups) {
  for (const int64_t width : {2, 4, 8, 16, 32})
    for (const int64_t groups : {1, 3, 5})
      for (const int64_t stride : {1, 2}) {
        SCOPED_TRACE(testing::Message() << width << "x" << groups << " s=" << stride);
        ConvCase c = make(9, 11, width * groups, groups, 3, stride);
        c.finish(0, groups == 3 ? 5 : 0);
        ASSERT_NO_FATAL_FAILURE(expect_means(c, GetParam(), ConvAlgorithm::kGrouped));
      }
}

// The means are those of what the activation and the residual leave.
TEST_P(RowMeans, BehindTheEpilogue) {
  for (const ConvAlgorithm algorithm : {ConvAlgorithm::kDepthwise, ConvAlgorithm::kGrouped})
    for (const Activation kind : {Activation::kNone, Activation::kClip, Activation::kTanh})
      for (const int residual : {0, 1, 2}) {
        ConvCase c = make(6, 9, 20, algorithm == ConvAlgorithm::kGrouped ? 5 : 20, 3, 1);
        c.finish();
        c.epilogue = {.bias = c.bias.data(),
                      .residual = residual ? c.residual.data() : nullptr,
                      .residual_last = residual == 2,
                      .activation = kind,
                      .a = -0.25f,
                      .b = 0.5f};
        ASSERT_NO_FATAL_FAILURE(expect_means(c, GetParam(), algorithm));
      }
}

TEST_P(RowMeans, OfThreeAxes) {
  ConvCase c = make(4, 6, 19, 19, 3, 1);
  c.p.in[0] = c.p.out[0] = 5;
  c.p.kernel[0] = 3;
  c.p.pad[0] = 1;
  c.finish();
  ASSERT_NO_FATAL_FAILURE(expect_means(c, GetParam(), ConvAlgorithm::kDepthwise));
}

// NaN and infinity reach the mean of their row and channel, and no other.
TEST_P(RowMeans, SpecialValues) {
  ConvCase c = make(5, 6, 18, 18, 1, 1);
  c.finish();
  for (float& w : c.weights) w = 1;
  c.x[static_cast<size_t>(c.p.in_view.image + 2 * c.p.in_view.row + 3 * c.p.in_view.pixel + 17)] = kNan;
  c.x[static_cast<size_t>(4 * c.p.in_view.row + 4)] = std::numeric_limits<float>::infinity();
  c.row_means.assign(3 * 5 * 18, kNan);
  c.run(GetParam(), ConvAlgorithm::kDepthwise);
  for (size_t i = 0; i < c.row_means.size(); ++i)
    if (i == (5 + 2) * 18 + 17)
      EXPECT_TRUE(std::isnan(c.row_means[i]));
    else if (i == 4 * 18 + 4)
      EXPECT_EQ(c.row_means[i], std::numeric_limits<float>::infinity());
    else
      EXPECT_TRUE(std::fabs(c.row_means[i]) <= 1) << i;
}

INSTANTIATE_TEST_SUITE_P(Every, RowMeans, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
