// Convolutions of few planes behind each other, and pools of planes: values stay planes, and numbers what they were.
#include <gtest/gtest.h>

#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::Machinery;
using support::RunOptions;
using support::weights;

struct Ran {
  OwnedTensor y;
  std::vector<std::string> kernels;
};

Ran run(const std::string& dims, const std::string& constants, const std::string& body, bool reference = false) {
  RunOptions options;
  if (reference) options.runner.reference_only = true;
  const std::string text =
      "graph \"filters\"\n  input %x: f32[" + dims + "] \"x\"\n" + constants + body + "  output %y \"y\"\nend\n";
  Machinery machinery(support::compiled(text, options), options);
  Session& session = machinery.session();
  const OwnedTensor x = support::filled(session.input_type(0), 3, 5);
  EXPECT_TRUE(session.set_input(0, x.view()).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(session.run().ok()) << text;
  Ran ran{value_or_throw(OwnedTensor::copy_of(*session.output(0))), {}};
  for (const BoundStep& step : session.runner().last_segment()->steps) ran.kernels.emplace_back(step.name);
  return ran;
}

void expect_kernels(const std::string& dims, const std::string& constants, const std::string& body,
                    const std::vector<std::string>& kernels) {
  const Ran plain = run(dims, constants, body, true), fast = run(dims, constants, body);
  EXPECT_EQ(difference(plain.y.view(), fast.y.view(), 64), "") << body;
  ASSERT_EQ(fast.kernels.size(), kernels.size()) << testing::PrintToString(fast.kernels);
  for (size_t i = 0; i < kernels.size(); ++i)
    EXPECT_EQ(fast.kernels[i].rfind(kernels[i], 0), 0u) << fast.kernels[i] << " for " << kernels[i];
}

TEST(Filters, BehindEachOtherNothingIsTurned) {
  expect_kernels("1,3,24,200", weights("a", {3, 1, 5, 5}) + weights("b", {6, 1, 3, 3}) + weights("c", {6, 1, 3, 3}),
                 "  %1 = conv(%x, %a) groups=3, pads=[2,2,2,2]\n  %2 = relu(%1)\n  %3 = conv(%2, %b) groups=3\n"
                 "  %4 = sigmoid(%3)\n  %y = conv(%4, %c) groups=6\n",
                 {"conv_f32_filter", "conv_f32_filter", "conv_f32_filter"});
}

// A residual is added by a step of its own, also where its place is the result's.
TEST(Filters, ResidualsAndTwoReaders) {
  expect_kernels("2,3,40,48", weights("a", {3, 1, 3, 3}) + weights("b", {3, 1, 3, 3}),
                 "  %1 = conv(%x, %a) groups=3, pads=[1,1,1,1]\n  %2 = conv(%1, %b) groups=3, pads=[1,1,1,1]\n"
                 "  %3 = add(%2, %1)\n  %y = relu(%3)\n",
                 {"conv_f32_filter", "conv_f32_filter", ""});
}

// The next layer, of many channels, reads the planes as they are.
TEST(Filters, InFrontOfALayer) {
  expect_kernels("1,3,48,48", weights("a", {3, 1, 3, 3}) + weights("b", {16, 3, 3, 3}),
                 "  %1 = conv(%x, %a) groups=3, pads=[1,1,1,1]\n  %2 = conv(%1, %b) strides=[2,2]\n  %y = tanh(%2)\n",
                 {"conv_f32_filter", "conv_f32_implicit", ""});
}

// Long rows are pooled where they lie; of short ones, and of most that are made smaller, the channels are turned.
TEST(Filters, PoolsOfPlanes) {
  const std::string peaks =
      "  %1 = max_pool(%x) kernel=[3,3], pads=[1,1,1,1]\n  %2 = equal(%1, %x)\n"
      "  %3 = cast(%2) to=f32\n  %y = mul(%3, %x)\n";
  expect_kernels("2,20,9,40", "", peaks, {"max_pool_f32", "equal_f32", "cast_bool", "mul_f32"});
  const std::string average = "  %y = average_pool(%x) kernel=[2,2], strides=[2,2], pads=[1,0,0,1]\n";
  expect_kernels("2,20,9,71", "", average, {"average_pool_f32"});
  expect_kernels("2,20,9,40", "", average, {"channels_last_f32", "average_pool_f32", "channels_first_f32"});
  expect_kernels("2,3,4,5,30", "", "  %y = average_pool(%x) kernel=[2,3,1]\n", {"average_pool_f32"});
}

}  // namespace
}  // namespace mica
