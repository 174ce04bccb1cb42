// Averages that start from the means of rows: who gets them, and that the numbers stay what they were.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::Machinery;
using support::numbers;
using support::RunOptions;
using support::weights;

std::string graph(const std::string& dims, const std::string& constants, const std::string& body) {
  return "graph \"means\"\n  input %x: f32[" + dims + "] \"x\"\n" + constants + body + "  output %y \"y\"\nend\n";
}

const std::string kDepthwise = "  %1 = conv(%x, %a) groups=20, pads=[1,1,1,1]\n  %2 = silu(%1)\n";
const std::string kImageAxes = "  constant %axes: i64[2] = {2, -1}\n";

// A squeeze-excite block behind a depthwise convolution.
std::string excite(const std::string& dims, const std::string& stride, const std::string& mean) {
  return graph(dims,
               weights("a", {20, 1, 3, 3}) + weights("b", {6, 20, 1, 1}) + weights("c", {20, 6, 1, 1}) +
                   weights("d", {7, 20, 1, 1}) + kImageAxes,
               "  %1 = conv(%x, %a) groups=20, pads=[1,1,1,1]" + stride + "\n  %2 = hard_swish(%1)\n  %3 = " + mean +
                   "\n  %4 = conv(%3, %b)\n  %5 = relu(%4)\n  %6 = conv(%5, %c)\n  %7 = sigmoid(%6)\n"
                   "  %8 = mul(%2, %7)\n  %y = conv(%8, %d)\n");
}

struct Ran {
  std::vector<OwnedTensor> outputs;
  int means = 0;  // steps that tell means
  bool chained = false;
};

Ran run(const std::string& text, RunOptions options, const OwnedTensor* given = nullptr) {
  Machinery machinery(support::compiled(text, options), options);
  Session& session = machinery.session();
  const OwnedTensor x = support::filled(session.input_type(0), 3, 5);
  Ran ran;
  EXPECT_TRUE(session.set_input(0, given ? given->view() : x.view()).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(session.run().ok()) << text;
  for (size_t i = 0; i < session.output_count(); ++i)
    ran.outputs.push_back(value_or_throw(OwnedTensor::copy_of(*session.output(i))));
  for (const BoundStep& step : session.runner().last_segment()->steps) {
    ran.means += step.name.ends_with("_means");
    ran.chained = ran.chained || step.first_stage != step.stage;
  }
  return ran;
}

Ran run(const std::string& text, bool row_means, const OwnedTensor* given = nullptr) {
  RunOptions options;
  options.runner.row_chains = RowChainMode::kNever;
  options.runner.row_means = row_means;
  return run(text, options, given);
}

// With and without them the same up to rounding: a mean of n numbers has at most n rounding errors of its largest
// number, and what stands behind it here adds no more than twice as many.
void expect_means(const std::string& text, int count, double n) {
  SCOPED_TRACE(text);
  const Ran with = run(text, true), without = run(text, false);
  EXPECT_EQ(without.means, 0);
  EXPECT_EQ(with.means, count);
  EXPECT_EQ(difference(without.outputs, with.outputs, 3 * n), "");
  if (count == 0) {
    EXPECT_EQ(difference(without.outputs, with.outputs, 0), "");
  }
}

TEST(RowMeans, SqueezeExcite) {
  for (const char* mean : {"global_average_pool(%2)", "reduce(%2, %axes) kind=mean"}) {
    expect_means(excite("1,20,9,13", "", mean), 1, 117);
    expect_means(excite("3,20,7,8", ", strides=[2,2]", mean), 1, 56);
    expect_means(excite("2,20,1,2", "", mean), 1, 2);
    expect_means(excite("1,20,5,1", "", mean), 0, 5);  // rows of one number are their means
    expect_means(excite("1,20,1,1", "", mean), 0, 1);
  }
}

TEST(RowMeans, Groups) {
  const std::string constants = weights("a", {24, 4, 3, 3});
  expect_means(graph("2,24,9,10", constants,
                     "  %1 = conv(%x, %a) groups=6\n  %2 = relu(%1)\n"
                     "  %y = global_average_pool(%2)\n"),
               1, 56);
}

// One channel is a plane, whose filters do not tell.
TEST(RowMeans, OneChannelAndThreeAxes) {
  expect_means(graph("2,1,16,40", weights("a", {1, 1, 3, 3}), "  %1 = conv(%x, %a)\n  %y = global_average_pool(%1)\n"),
               0, 532);
  expect_means(graph("2,5,6,5,4", weights("a", {5, 1, 3, 3, 1}),
                     "  %1 = conv(%x, %a) groups=5\n  %y = global_average_pool(%1)\n"),
               1, 48);
}

// Any mean over the last axis is one of means; sums, other axes and other makers are not.
TEST(RowMeans, WhichReductions) {
  const std::string a = weights("a", {20, 1, 3, 3});
  const auto reduced = [&](const std::string& axes, const std::string& kind) {
    return graph("2,20,6,7", a + "  constant %axes: i64[1] = {" + axes + "}\n",
                 kDepthwise + "  %y = reduce(%2, %axes) " + kind + "\n");
  };
  expect_means(reduced("3", "kind=mean"), 1, 7);
  expect_means(reduced("-1", "kind=mean, keep_dims=false"), 1, 7);
  expect_means(reduced("2", "kind=mean"), 0, 6);
  expect_means(reduced("1", "kind=mean"), 0, 20);
  expect_means(reduced("3", "kind=sum"), 0, 7);
  expect_means(reduced("3", "kind=max"), 0, 7);
  expect_means(graph("2,20,6,7", a, kDepthwise + "  %y = reduce(%2) kind=mean\n"), 1, 840);
  expect_means(graph("2,20,6,7", a, kDepthwise + "  %y = global_max_pool(%2)\n"), 0, 42);
  expect_means(graph("2,20,6,7", a, kDepthwise + "  %3 = mul(%2, %x)\n  %y = global_average_pool(%3)\n"), 0, 42);
  expect_means(graph("2,20,6,7", weights("a", {20, 20, 1, 1}), "  %1 = conv(%x, %a)\n  %y = global_average_pool(%1)\n"),
               0, 42);
  expect_means(graph("2,20,9", weights("a", {20, 1, 3}),
                     "  %1 = conv(%x, %a) groups=20\n"
                     "  %y = global_average_pool(%1)\n"),
               0, 9);
}

// Two averages read the same means, and an image that is looked at is there.
TEST(RowMeans, SeveralReaders) {
  std::string text = graph("2,20,6,7", weights("a", {20, 1, 3, 3}) + kImageAxes,
                           kDepthwise +
                               "  %3 = global_average_pool(%2)\n  %4 = reduce(%2, %axes) kind=mean\n"
                               "  %5 = add(%3, %4)\n  %y = mul(%2, %5)\n");
  expect_means(text, 1, 42);
  text.insert(text.find("  output"), "  output %2 \"image\"\n");
  expect_means(text, 1, 42);
}

// Rows made in chains, in strips by several threads, of several images: the bits of stage by stage.
TEST(RowMeans, InChainsAndThreads) {
  const std::string constants =
      weights("p", {20, 5, 1, 1}) + weights("a", {20, 1, 3, 3}) + weights("b", {20, 20, 1, 1});
  for (const char* dims : {"1,5,23,9", "3,5,14,6", "2,5,2,3"}) {
    const std::string text = graph(dims, constants,
                                   "  %0 = conv(%x, %p)\n  %00 = relu(%0)\n"
                                   "  %1 = conv(%00, %a) groups=20, pads=[1,1,1,1], strides=[1,1]\n  %2 = silu(%1)\n"
                                   "  %3 = global_average_pool(%2)\n  %4 = conv(%3, %b)\n  %5 = sigmoid(%4)\n"
                                   "  %y = mul(%2, %5)\n");
    SCOPED_TRACE(dims);
    RunOptions options;
    options.runner.row_chains = RowChainMode::kNever;
    const Ran wanted = run(text, options);
    EXPECT_EQ(wanted.means, 1);
    for (const RowChainMode mode : {RowChainMode::kNever, RowChainMode::kAlways})
      for (const int threads : {1, 2, 3, 8}) {
        options.runner.row_chains = mode;
        options.threads = threads;
        const Ran got = run(text, options);
        EXPECT_EQ(got.chained, mode == RowChainMode::kAlways);
        EXPECT_EQ(difference(wanted.outputs, got.outputs, 0), "") << threads;
      }
    options.runner.row_means = false;  // and in a chain they are the fresh ones: without them rounding differs
    EXPECT_EQ(difference(run(text, options).outputs, wanted.outputs, 400), "");
  }
}

// NaN in one channel reaches that channel's average and no other.
TEST(RowMeans, NotANumber) {
  const std::string text =
      graph("1,20,5,6", weights("a", {20, 1, 1, 2}), "  %1 = conv(%x, %a) groups=20\n  %y = global_average_pool(%1)\n");
  std::vector<float> x(20 * 30, 1.0f);
  x[7 * 30 + 29] = std::numeric_limits<float>::quiet_NaN();
  const OwnedTensor given = support::floats({1, 20, 5, 6}, x);
  const Ran ran = run(text, true, &given);
  EXPECT_EQ(ran.means, 1);
  ASSERT_EQ(ran.outputs.size(), 1u);
  const Elements y(ran.outputs[0].view());
  for (int64_t c = 0; c < 20; ++c) EXPECT_EQ(std::isnan(y.number(c)), c == 7) << c;
}

}  // namespace
}  // namespace mica
