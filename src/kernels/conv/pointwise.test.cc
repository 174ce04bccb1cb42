// Pointwise convolutions as products of matrices, by Strassen's algorithm and in pairs too, on every instruction set.
#include "kernels/conv/conv_problem.test.h"
#include "kernels/conv/cost.h"

namespace mica {
namespace {

class Pointwise : public testing::TestWithParam<Isa> {};

// Two images, in pixels with room behind them.
ConvCase pointwise(int64_t height, int64_t width, int64_t in, int64_t out) {
  ConvCase c;
  c.p = {.images = 2, .in_channels = in, .out_channels = out, .in = {1, height, width}, .out = {1, height, width}};
  c.finish();
  c.p.in_view = dense_view(c.p.in, in + 3);
  c.p.out_view = dense_view(c.p.out, out + 5);
  c.p.residual_view = dense_view(c.p.out, out + 2);
  c.x.resize(static_cast<size_t>(c.p.images * c.p.in_view.image), 0.5f);
  c.residual.resize(static_cast<size_t>(c.p.images * c.p.residual_view.image), -0.25f);
  c.y.assign(static_cast<size_t>(c.p.images * c.p.out_view.image), ConvCase::kUntouched);
  c.epilogue.bias = c.bias.data();
  return c;
}

void expect_right(Isa isa, ConvAlgorithm algorithm) {
  for (const auto& [height, width] : {std::pair{1, 1}, {3, 5}, {9, 13}})
    for (int64_t in : {2, 17, 64})
      for (int64_t out : {2, 16, 41})
        for (int threads : {1, 3}) {
          ConvCase c = pointwise(height, width, in, out);
          c.slack =
              3;  // sums of up to three quarters of A by two of B (gemm/strassen.h), of one of each (gemm/paired.h)
          if (in == 17) c.epilogue.residual = c.residual.data();
          c.epilogue.residual_last = out == 16;
          if (out == 41) c.epilogue.activation = Activation::kTanh;
          SCOPED_TRACE(testing::Message() << height << "x" << width << " c=" << in << " n=" << out);
          c.run(isa, algorithm, {.threads = threads}, 1);
          ASSERT_NO_FATAL_FAILURE(c.check());
        }
}

TEST_P(Pointwise, ByStrassensAlgorithm) { expect_right(GetParam(), ConvAlgorithm::kStrassen); }

INSTANTIATE_TEST_SUITE_P(Every, Pointwise, testing::ValuesIn(every_isa()), IsaName());

// As bands of a chain have them.
TEST(PointwisePairs, LinesThatLieApart) {
  for (const Isa isa : every_isa()) {
    if (!gemm_kernels(isa).paired_weights) continue;
    for (const auto& [height, width] : {std::pair{1, 9}, {5, 1}, {4, 13}, {3, 26}})
      for (const bool residual : {false, true}) {
        ConvCase c = pointwise(height, width, 50, 41);
        c.p.in_view.row += 7, c.p.out_view.row += 11, c.p.residual_view.row += 3;
        c.p.in_view.image = c.p.in_view.depth = height * c.p.in_view.row;
        c.p.out_view.image = c.p.out_view.depth = height * c.p.out_view.row;
        c.p.residual_view.image = c.p.residual_view.depth = height * c.p.residual_view.row;
        c.x.resize(static_cast<size_t>(c.p.images * c.p.in_view.image), 0.5f);
        c.residual.resize(static_cast<size_t>(c.p.images * c.p.residual_view.image), -0.25f);
        c.y.assign(static_cast<size_t>(c.p.images * c.p.out_view.image), ConvCase::kUntouched);
        c.slack = 3;
        if (residual) c.epilogue.residual = c.residual.data();
        SCOPED_TRACE(testing::Message() << height << "x" << width);
        c.run(isa, ConvAlgorithm::kPaired, {.threads = 2}, 1);
        ASSERT_NO_FATAL_FAILURE(c.check());
      }
  }
}

TEST(PointwisePairs, OnSetsThatHaveThem) {
  for (const Isa isa : every_isa())
    if (gemm_kernels(isa).paired_weights) expect_right(isa, ConvAlgorithm::kPaired);
}

TEST(PointwiseChoice, StrassensAlgorithmFitsProducts) {
  const ConvProblem p = pointwise(4, 4, 8, 8).p;
  const auto fits = [](const ConvProblem& problem) { return conv_fits(problem, ConvAlgorithm::kStrassen); };
  EXPECT_TRUE(fits(p));
  ConvProblem other = p;
  other.residual_in_place = true;  // blocks are written before some rows are made anew
  EXPECT_FALSE(fits(other));
  other = p;
  other.stride[2] = 2, other.out[2] = 2;
  EXPECT_FALSE(fits(other));
  EXPECT_FALSE(fits(pointwise(4, 4, 1, 8).p));
  EXPECT_FALSE(fits(pointwise(4, 4, 8, 1).p));
}

TEST(PointwiseChoice, PairsBesideHalfWideUnits) {
  const GemmLimits limits{.adds_apart = true, .half_units = true};
  const auto chosen = [&](const ConvCase& c) { return choose_conv_algorithm(c.p, Isa::kAvx512, limits); };
  EXPECT_EQ(chosen(pointwise(14, 7, 512, 512)), ConvAlgorithm::kPaired);
  EXPECT_EQ(chosen(pointwise(28, 14, 128, 256)), ConvAlgorithm::kPaired);
  EXPECT_EQ(chosen(pointwise(56, 56, 16, 16)), ConvAlgorithm::kPointwise);  // too few steps and columns
}

TEST(PointwiseChoice, StrassensAlgorithmWhereUnitsAreTheLimit) {
  const GemmLimits half{.adds_apart = true}, whole{};
  const auto chosen = [](const ConvCase& c, const GemmLimits& limits, const ConvPolicy& policy = {}) {
    return choose_conv_algorithm(c.p, Isa::kAvx512, limits, policy);
  };
  const ConvCase deep = pointwise(14, 7, 512, 512), shallow = pointwise(28, 14, 128, 256);
  EXPECT_EQ(chosen(deep, half), ConvAlgorithm::kStrassen);
  EXPECT_EQ(chosen(deep, whole), ConvAlgorithm::kPointwise);
  EXPECT_EQ(chosen(shallow, half), ConvAlgorithm::kPointwise);
  EXPECT_EQ(chosen(pointwise(7, 3, 512, 512), half), ConvAlgorithm::kPointwise);  // too few rows for the weights
  EXPECT_EQ(chosen(deep, half, {.low_memory = true}), ConvAlgorithm::kPointwise);
  EXPECT_EQ(chosen(deep, half, {.is_phase = true}), ConvAlgorithm::kPointwise);
  EXPECT_EQ(chosen(deep, half, {.from_panels = false}), ConvAlgorithm::kPointwise);
  const ConvPolicy forced{.force = conv_force("strassen")};
  EXPECT_EQ(chosen(shallow, whole, forced), ConvAlgorithm::kStrassen);
  EXPECT_EQ(conv_algorithm("strassen"), ConvAlgorithm::kStrassen);
}

}  // namespace
}  // namespace mica
