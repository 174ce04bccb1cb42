#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

struct Moments {
  double mean = 0, deviation = 0, low = 1e9, high = -1e9;
};
Moments moments(const Problem& problem) {
  const Outcome outcome = run_reference(problem);
  EXPECT_TRUE(outcome.status.ok());
  const TensorView& view = outcome.outputs[0].tensor.view();
  Moments m;
  const auto n = static_cast<double>(view.count());
  double squares = 0;
  for (int64_t i = 0; i < view.count(); ++i) {
    const double x = Elements(view).number(i);
    m.mean += x / n;
    squares += x * x / n;
    m.low = std::fmin(m.low, x);
    m.high = std::fmax(m.high, x);
  }
  m.deviation = std::sqrt(squares - m.mean * m.mean);
  return m;
}

// Bounds are four standard errors of 10,000 draws.
TEST(RandomUniform, FillsTheInterval) {
  const Problem problem{.op = "random_uniform",
                        .attributes = {{"dims", std::vector<int64_t>{100, 100}}, {"first", -2.0}, {"second", 4.0}}};
  const Moments m = moments(problem);
  EXPECT_NEAR(m.mean, 1, 4 * 6 / std::sqrt(12) / 100);
  EXPECT_GE(m.low, -2);
  EXPECT_LT(m.high, 4);
  check(problem);
}
TEST(RandomNormal, HasItsMoments) {
  const Moments m = moments(
      {.op = "random_normal", .attributes = {{"first", 3.0}, {"second", 2.0}}, .inputs = {uniform({100, 100})}});
  EXPECT_NEAR(m.mean, 3, 4 * 2 / 100.0);
  EXPECT_NEAR(m.deviation, 2, 4 * 2 / std::sqrt(2.0) / 100);
}
// The generator's published first number for the seed 5489 decides the first draw.
TEST(RandomUniform, KnownGenerator) {
  const Outcome outcome =
      run_reference({.op = "random_uniform",
                     .attributes = {{"dims", std::vector<int64_t>{1}}, {"dtype", DType::kF64}, {"seed", 5489}}});
  const double high = 3499211612u >> 5, low = 581869302u >> 6;
  EXPECT_EQ(Elements(outcome.outputs[0].tensor.view()).number(0), (high * 67108864 + low) / 9007199254740992.0);
}
TEST(Bernoulli, FollowsProbabilities) {
  const Problem problem{.op = "bernoulli", .inputs = {list({4}, {0, 1, 0, 1})}, .expect = {{.numbers = {0, 1, 0, 1}}}};
  check(problem);
  const Moments m =
      moments({.op = "bernoulli", .attributes = {{"dtype", DType::kI32}}, .inputs = {list({10000}, {0.3})}});
  EXPECT_NEAR(m.mean, 0.3, 4 * std::sqrt(0.21) / 100);
}
TEST(Multinomial, FollowsProbabilities) {
  const Moments m = moments({.op = "multinomial",
                             .attributes = {{"samples", 10000}, {"dtype", DType::kI64}},
                             .inputs = {list({1, 3}, {std::log(0.2), -INFINITY, std::log(0.8)})}});
  EXPECT_NEAR(m.mean, 1.6, 4 * 2 * std::sqrt(0.16) / 100);
}
TEST(Dropout, OffAndOn) {
  check({.op = "dropout",
         .inputs = {iota({6})},
         .outputs = 2,
         .expect = {{.numbers = {0, 1, 2, 3, 4, 5}}, {.numbers = {1, 1, 1, 1, 1, 1}}}});
  const Moments m = moments({.op = "dropout", .inputs = {list({10000}, {3}), scalar(0.25), scalar(1, DType::kBool)}});
  EXPECT_NEAR(m.mean, 3, 4 * 4 * std::sqrt(0.1875) / 100);
  EXPECT_EQ(m.high, 4);
}

}  // namespace
}  // namespace mica::suite
