#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

std::vector<double> first(std::vector<double> list, int64_t count) {
  list.resize(static_cast<size_t>(count));
  return list;
}

// Scales and shifts that bring bytes to a few units, as networks want them.
Problem pixels(std::vector<int64_t> x, std::vector<int64_t> w, std::vector<Attribute> attributes,
               DType dtype = DType::kU8) {
  double terms = 1;
  for (size_t i = 1; i < w.size(); ++i) terms *= static_cast<double>(w[i]);
  attributes.emplace_back("scale", first({0.0171248, -0.0175070, 0.0174292, 0.0039, 1, 0.02, 0.01, -0.5}, x[1]));
  attributes.emplace_back("shift", first({-2.1179097, 2.035714, -1.8044449, 0, -128, 0.5, 1, 3}, x[1]));
  Problem p{.op = "pixel_conv", .attributes = std::move(attributes)};
  const bool is_signed = dtype == DType::kI8;
  p.inputs = {uniform(x, is_signed ? -128 : 0, is_signed ? 127 : 255, 1, dtype), constant(uniform(w, -1, 1, 2)),
              constant(uniform({w[0]}, -1, 1, 3))};
  p.terms = terms + 3;  // a pixel's own roundings are not more than those of a product
  p.scale = (x[1] > 3 ? 130 : 4) * terms + 1;
  p.expect_kernel = "conv_f32_pixels";
  return p;
}

std::vector<Attribute> with(std::vector<int64_t> pads, std::vector<int64_t> strides = {},
                            std::vector<int64_t> dilations = {}) {
  return {{"pads", pads}, {"strides", strides}, {"dilations", dilations}};
}

TEST(PixelConv, KnownSums) {
  Problem p{
      .op = "pixel_conv",
      .attributes = {{"pads", std::vector<int64_t>{0, 0, 1, 1}},
                     {"scale", std::vector<double>{0.5}},
                     {"shift", std::vector<double>{-2}}},
      .inputs = {list({1, 1, 2, 2}, {0, 255, 6, 4}, DType::kU8), list({1, 1, 2, 2}, {1, 2, 3, 4}), list({1}, {10})}};
  p.expect = {{.numbers = {10 - 2 + 251 + 3, 10 + 125.5, 10 + 1, 10 + 0}, .dims = std::vector<int64_t>{1, 1, 2, 2}}};
  check(p);
}

TEST(PixelConv, Sizes) {
  for (int64_t channels : {1, 2, 3, 4, 8})
    for (int64_t width : {1, 5, 31, 70}) {
      check(pixels({1, channels, 3, width}, {16, channels, 3, 3}, with({1, 1, 1, 1})));
      check(pixels({2, channels, 9, width}, {35, channels, 3, 3}, with({1, 1, 1, 1}, {2, 2})));
    }
}

TEST(PixelConv, Windows) {
  check(pixels({1, 3, 1, 1}, {8, 3, 7, 7}, with({3, 3, 3, 3}, {2, 2})));
  check(pixels({1, 3, 4, 5}, {8, 3, 9, 3}, with({3, 0, 2, 4})));
  check(pixels({1, 3, 33, 37}, {64, 3, 11, 11}, with({2, 2, 2, 2}, {4, 4})));
  check(pixels({1, 3, 20, 21}, {8, 3, 1, 1}, with({}, {2, 3})));
  check(pixels({1, 3, 20, 21}, {8, 3, 3, 2}, with({2, 3, 0, 1}, {1, 2}, {2, 3})));
  check(pixels({1, 1, 20, 21}, {8, 1, 5, 5}, {{"auto_pad", "same_upper"}, {"strides", std::vector<int64_t>{2, 2}}}));
  check(pixels({1, 3, 3, 3}, {9, 3, 3, 3}, with({}, {1000000, 1000000})));
}

TEST(PixelConv, Signed) { check(pixels({2, 3, 11, 12}, {16, 3, 3, 3}, with({1, 1, 1, 1}, {2, 2}), DType::kI8)); }

TEST(PixelConv, OneAxis) { check(pixels({2, 3, 50}, {12, 3, 5}, with({2, 2}, {2}))); }

TEST(PixelConv, WeightsKnownAtRunOnly) {
  Problem p = pixels({1, 3, 6, 5}, {9, 3, 3, 3}, with({1, 1, 1, 1}));
  p.inputs[1].constant = false;
  check(p);
}

// What the kernel leaves to the reference.
TEST(PixelConv, MoreThanThePictureOfANetwork) {
  for (Problem p :
       {pixels({1, 2, 3, 4, 5}, {4, 2, 2, 3, 2}, {}), pixels({1, 2, 6, 5}, {4, 1, 3, 3}, {{"groups", 2}})}) {
    p.expect_kernel = "";
    check(p);
  }
}

TEST(PixelConv, Refuses) {
  check_error(pixels({1, 3, 9, 7}, {8, 4, 3, 3}, {}), Code::kBadShape);
  Problem p = pixels({1, 3, 9, 7}, {8, 3, 3, 3}, {});
  p.inputs[0] = uniform({1, 3, 9, 7});
  check_error(p, Code::kBadType);
  p = pixels({1, 3, 9, 7}, {8, 3, 3, 3}, {});
  p.attributes.back() = {"shift", std::vector<double>{1, 2}};
  check_error(p, Code::kBadAttribute);
}

}  // namespace
}  // namespace mica::suite
