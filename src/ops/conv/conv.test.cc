#include <gtest/gtest.h>

#include "problem.h"

namespace mica::suite {
namespace {

Problem conv(std::vector<int64_t> x, std::vector<int64_t> w, std::vector<Attribute> attributes, bool bias = true) {
  double terms = 1;
  for (size_t i = 1; i < w.size(); ++i) terms *= static_cast<double>(w[i]);
  Problem p{.op = "conv", .attributes = std::move(attributes)};
  p.inputs = {uniform(x), constant(uniform(w, -1, 1, 2))};
  if (bias) p.inputs.push_back(constant(uniform({w[0]}, -1, 1, 3)));
  p.terms = terms + 1;
  p.scale = terms + 1;
  p.expect_kernel = "conv_f32";
  return p;
}

std::vector<Attribute> with(std::vector<int64_t> pads, std::vector<int64_t> strides = {}, int64_t groups = 1,
                            std::vector<int64_t> dilations = {}) {
  return {{"pads", pads}, {"strides", strides}, {"groups", groups}, {"dilations", dilations}};
}

TEST(Conv, KnownSums) {
  check({.op = "conv",
         .inputs = {iota({1, 1, 3, 3}), list({1, 1, 2, 2}, {1, 2, 3, 4}), list({1}, {10})},
         .expect = {{.numbers = {37, 47, 67, 77}, .dims = std::vector<int64_t>{1, 1, 2, 2}}},
         .terms = 5});
}

TEST(Conv, Pointwise) {
  check(conv({1, 5, 3, 4}, {7, 5, 1, 1}, {}));
  check(conv({2, 33, 7, 5}, {35, 33, 1, 1}, with({}, {2, 2}), false));
  check(conv({3, 4, 1, 1}, {17, 4, 1, 1}, {}));
}

TEST(Conv, Windows) {
  check(conv({1, 3, 9, 7}, {8, 3, 3, 3}, with({1, 1, 1, 1})));
  check(conv({2, 6, 11, 5}, {4, 3, 3, 2}, with({1, 0, 2, 1}, {2, 1}, 2)));
  check(conv({1, 4, 9, 9}, {5, 4, 3, 3}, with({2, 2, 2, 2}, {}, 1, {2, 2})));
  check(conv({1, 17, 13, 14}, {19, 17, 3, 3}, with({1, 1, 1, 1})));
}

TEST(Conv, Depthwise) {
  check(conv({1, 19, 8, 9}, {19, 1, 3, 3}, with({1, 1, 1, 1}, {}, 19)));
  check(conv({2, 5, 8, 9}, {5, 1, 5, 5}, with({2, 2, 2, 2}, {2, 2}, 5)));
  check(conv({1, 3, 8, 9}, {6, 1, 3, 3}, with({1, 1, 1, 1}, {}, 3)));
}

TEST(Conv, OneAndThreeAxes) {
  check(conv({2, 3, 13}, {4, 3, 3}, with({1, 1})));
  check(conv({1, 2, 5, 4, 6}, {3, 2, 2, 3, 2}, with({0, 1, 0, 1, 1, 1})));
}

// Columns as lines, of one axis and of two; the last two are padded beside the column.
TEST(Conv, OneColumn) {
  check(conv({2, 6, 23, 1}, {5, 6, 4, 1}, with({2, 0, 1, 0}, {2, 1}, 1, {2, 1})));
  check(conv({1, 19, 31, 1}, {19, 1, 9, 1}, with({4, 0, 4, 0}, {1, 3}, 19)));
  check(conv({2, 1, 17, 1}, {3, 1, 5, 1}, with({0, 0, 3, 0}, {2, 1})));
  check(conv({2, 3, 7, 9, 1}, {4, 3, 2, 3, 1}, with({1, 0, 0, 0, 2, 0}, {1, 2, 1})));
  check(conv({1, 5, 11, 1, 1}, {5, 1, 3, 1, 1}, with({1, 0, 0, 1, 0, 0}, {}, 5)));
  check(conv({1, 4, 8, 1}, {4, 4, 3, 1}, with({1, 1, 1, 1})));
  check(conv({1, 4, 8, 1}, {4, 4, 3, 1}, with({1, 1, 1, 0}, {1, 2})));
}

// Kernels across whole rows, of one channel and of several; some with padding beside them or many steps of k.
TEST(Conv, AcrossRows) {
  check(conv({1, 1, 33, 20}, {18, 1, 3, 20}, with({})));
  check(conv({2, 5, 12, 7}, {4, 5, 3, 7}, with({1, 0, 2, 0}, {2, 3}, 1, {2, 1})));
  check(conv({2, 3, 6, 5}, {17, 3, 6, 5}, with({})));
  check(conv({1, 2, 5, 6, 4}, {3, 2, 2, 3, 4}, with({0, 1, 0, 1, 0, 0})));
  check(conv({1, 3, 4, 6}, {5, 3, 2, 6}, with({0, 1, 0, 1})));
  check(conv({1, 3, 4, 6}, {5, 3, 2, 6}, with({0, 1, 0, 0}, {1, 2})));
  check(conv({1, 20, 4, 67}, {3, 20, 2, 67}, with({})));
  // One channel to one: depthwise.
  check(conv({1, 1, 3}, {1, 1, 3}, with({})));
  check(conv({2, 1, 7, 3}, {1, 1, 3, 3}, with({}, {2, 1})));
  check(conv({1, 1, 9, 17}, {1, 1, 4, 17}, with({2, 0, 1, 0})));
  check(conv({1, 1, 4, 5, 6}, {1, 1, 2, 3, 6}, with({})));
  Problem p = conv({1, 2, 9, 6}, {5, 2, 3, 6}, {});
  p.inputs[1].constant = false;
  check(p);
}

TEST(Conv, SameKeepsTheSize) {
  for (const char* pad : {"same_upper", "same_lower"})
    check(conv({1, 2, 7, 8}, {3, 2, 4, 2}, {{"auto_pad", pad}, {"strides", std::vector<int64_t>{2, 1}}}));
}

TEST(Conv, WeightsKnownAtRunOnly) {
  Problem p = conv({1, 4, 6, 5}, {9, 4, 3, 3}, with({1, 1, 1, 1}));
  p.inputs[1].constant = false;
  check(p);
}

TEST(Conv, Doubles) {
  Problem p = conv({1, 2, 4, 4}, {3, 2, 3, 3}, with({1, 1, 1, 1}));
  for (Spec& s : p.inputs) s.dtype = DType::kF64;
  p.expect_kernel = "";
  check(p);
}

TEST(Conv, Refuses) {
  check_error(conv({1, 3, 9, 7}, {8, 4, 3, 3}, {}), Code::kBadShape);
  check_error(conv({1, 3, 2, 2}, {8, 3, 3, 3}, {}), Code::kBadShape);
  check_error(conv({1, 3, 9, 7}, {8, 3, 3}, {}), Code::kBadRank);
  check_error(conv({1, 3, 9, 7}, {8, 3, 3, 3}, with({1, 1}, {})), Code::kBadAttribute);
  check_error(conv({1, 3, 9, 7}, {8, 3, 3, 3}, with({}, {0, 1})), Code::kBadAttribute);
  check_error(conv({1, 4, 9, 7}, {3, 2, 3, 3}, with({}, {}, 2)), Code::kBadShape);
}

TEST(ConvTranspose, KnownSums) {
  check({.op = "conv_transpose",
         .inputs = {list({1, 1, 2}, {1, 2}), list({1, 1, 3}, {1, 10, 100})},
         .expect = {{.numbers = {1, 12, 120, 200}, .dims = std::vector<int64_t>{1, 1, 4}}}});
}

TEST(ConvTranspose, Shapes) {
  const auto problem = [](std::vector<Attribute> attributes, std::vector<int64_t> w) {
    Problem p{.op = "conv_transpose", .attributes = std::move(attributes)};
    p.inputs = {uniform({2, 4, 5, 3}), constant(uniform(w, -1, 1, 2))};
    p.terms = p.scale = 60;
    p.expect_kernel = "conv_transpose_f32";
    return p;
  };
  check(problem({{"strides", std::vector<int64_t>{2, 3}}}, {4, 5, 3, 3}));
  check(problem({{"strides", std::vector<int64_t>{2, 2}}, {"pads", std::vector<int64_t>{1, 1, 1, 0}}, {"groups", 2}},
                {4, 3, 3, 2}));
  check(problem({{"strides", std::vector<int64_t>{2, 2}}, {"auto_pad", "same_upper"}}, {4, 2, 3, 3}));
  check(
      problem({{"strides", std::vector<int64_t>{2, 2}}, {"output_shape", std::vector<int64_t>{11, 7}}}, {4, 2, 3, 3}));
}

// Results longer than the inputs reach end in zeros.
TEST(ConvTranspose, LongerThanItsInput) {
  const std::vector<double> wanted{1, 1, 0, 0, 2, 2, 0, 0, 3, 3, 0, 0};
  const Attribute strides{"strides", std::vector<int64_t>{4}};
  for (const Attribute& longer :
       {Attribute{"output_shape", std::vector<int64_t>{12}}, Attribute{"auto_pad", "same_upper"}})
    check({.op = "conv_transpose",
           .attributes = {strides, longer},
           .inputs = {list({1, 1, 3}, {1, 2, 3}), constant(list({1, 1, 2}, {1, 1}))},
           .expect = {{.numbers = wanted, .dims = std::vector<int64_t>{1, 1, 12}}}});
}

TEST(QlinearConv, IsExact) {
  Problem p{.op = "qlinear_conv", .attributes = with({1, 1, 1, 1}, {2, 2})};
  p.inputs = {uniform({1, 5, 9, 8}, 0, 255, 1, DType::kU8),
              scalar(0.02),
              scalar(113, DType::kU8),
              constant(uniform({7, 5, 3, 3}, -128, 127, 2, DType::kI8)),
              constant(list({7}, {0.01, 0.02, 0.003})),
              constant(list({7}, {0, 0, 0}, DType::kI8)),
              scalar(0.09),
              scalar(7, DType::kU8),
              constant(list({7}, {0, -4000, 3000, -2147483648.0, 2147480000.0, 17, 20000000}, DType::kI32))};
  for (size_t i : {1, 2, 6, 7}) p.inputs[i].constant = true;
  p.expect_kernel = "conv_8bit_exact";
  p.epilogues = false;
  check(p);
  p.attributes = with({1, 1, 1, 1});
  check(p);
  p.inputs[0] = uniform({2, 7, 6, 5}, -128, 127, 1, DType::kI8);
  p.inputs[2] = constant(scalar(-3, DType::kI8));
  p.inputs[3] = constant(uniform({7, 1, 3, 3}, -128, 127, 2, DType::kI8));
  p.inputs[7] = constant(scalar(-5, DType::kI8));
  p.attributes = with({1, 1, 1, 1}, {}, 7);
  check(p);
}

TEST(ConvInteger, ZeroPointsOfARun) {
  Problem p{.op = "conv_integer", .attributes = with({0, 1, 1, 0})};
  p.inputs = {uniform({1, 3, 5, 6}, 0, 255, 1, DType::kU8), constant(uniform({4, 3, 2, 2}, 0, 255, 2, DType::kU8)),
              scalar(99, DType::kU8), constant(scalar(128, DType::kU8))};
  p.expect_kernel = "conv_8bit_exact";
  p.epilogues = false;
  check(p);
}

// More channels than a panel has, one filter for each.
TEST(ConvInteger, Depthwise) {
  Problem p{.op = "conv_integer", .attributes = with({1, 1, 1, 1}, {}, 35)};
  p.inputs = {uniform({2, 35, 6, 5}, 0, 255, 1, DType::kU8), constant(uniform({35, 1, 3, 3}, 0, 255, 2, DType::kU8)),
              scalar(99, DType::kU8), constant(scalar(128, DType::kU8))};
  p.expect_kernel = "conv_8bit_exact";
  p.epilogues = false;
  check(p);
  p.attributes = with({1, 1, 1, 1}, {2, 2}, 35);
  check(p);
}

TEST(ConvInteger, SumsBeyondFloat) {
  Problem p{.op = "conv_integer"};
  p.inputs = {list({1, 1100, 1, 1}, {255}, DType::kU8), constant(list({1, 1100, 1, 1}, {127, 126}, DType::kI8))};
  p.expect = {{.numbers = {255.0 * 550 * 253}}};
  check(p);
}

}  // namespace
}  // namespace mica::suite
