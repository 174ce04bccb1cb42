#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "problem.h"

namespace mica::suite {
namespace {

Spec floats(std::vector<double> values) { return constant(list({static_cast<int64_t>(values.size())}, values)); }

// Two taps an axis, each product rounded.
constexpr double kTerms = 8;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

TEST(Resize, ModesAndCoordinates) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* coordinates :
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"})
      for (std::vector<int64_t> size :
           std::vector<std::vector<int64_t>>{{2, 19, 10, 14}, {2, 19, 3, 5}, {2, 19, 5, 7}, {2, 19, 1, 13}})
        check({.op = "resize",
               .attributes = {{"mode", mode}, {"coordinates", coordinates}},
               .inputs = {uniform({2, 19, 5, 7}), absent(), absent(), ints(size)},
               .terms = kTerms});
  check({.op = "resize",
         .attributes = {{"mode", "linear"}},
         .inputs = {uniform({1, 33, 8, 9}), absent(), floats({1, 1, 2, 2})},
         .terms = kTerms,
         .expect_kernel = "resize_"});
  check(
      {.op = "resize", .inputs = {uniform({1, 3, 8, 9}), absent(), floats({1, 1, 2, 2})}, .expect_kernel = "resize_"});
  check({.op = "resize",
         .attributes = {{"mode", "linear"}},
         .inputs = {special({1, 3, 4, 4}), absent(), floats({1, 1, 1, 1.5})},
         .terms = kTerms});
}
// 7 of 5 samples by a scale of 1.5: the last one is the last, as torch has it, or stands where the length of 7.5 does.
TEST(Resize, WholeLength) {
  for (const bool whole : {false, true}) {
    const double step = whole ? 4.0 / 6 : 4.0 / 6.5;
    std::vector<double> wanted;
    for (int i = 0; i < 7; ++i) wanted.push_back(i * step);
    check({.op = "resize",
           .attributes = {{"mode", "linear"}, {"coordinates", "align_corners"}, {"whole_length", whole}},
           .inputs = {list({5}, {0, 1, 2, 3, 4}), absent(), floats({1.5})},
           .expect = {{.numbers = wanted, .dims = std::vector<int64_t>{7}}},
           .terms = kTerms});
  }
}

// Places that are whole numbers are found as such where sizes are given: 23 · 30 / 46 is 15.
TEST(Resize, WholePlaces) {
  std::vector<double> from, wanted;
  for (int i = 0; i < 30; ++i) from.push_back(i);
  for (int i = 0; i < 46; ++i) wanted.push_back(i * 30 / 46);
  check({.op = "resize",
         .attributes = {{"coordinates", "asymmetric"}, {"nearest", "floor"}},
         .inputs = {list({30}, from), absent(), absent(), ints({46})},
         .expect = {{.numbers = wanted, .dims = std::vector<int64_t>{46}}}});
}

// A vector of results has neighbours that lie in one vector, in a few, further apart, or turned around.
TEST(Resize, LinesOfPlanes) {
  for (const char* mode : {"linear", "cubic"})
    for (int64_t width : {11, 19, 70, 100, 128, 211, 433}) {
      check({.op = "resize",
             .attributes = {{"mode", mode}},
             .inputs = {uniform({1, 2, 3, 211}), absent(), absent(), ints({1, 2, 4, width})},
             .terms = kTerms,
             .expect_kernel = "resize_"});
      check(
          {.op = "resize",
           .attributes = {{"mode", mode}, {"coordinates", "tf_crop_and_resize"}},
           .inputs = {uniform({1, 1, 3, 211}), floats({0, 0, 0, 0.9, 1, 1, 1, 0.1}), absent(), ints({1, 1, 4, width})},
           .terms = kTerms});
    }
  check({.op = "resize",
         .attributes = {{"mode", "linear"}},
         .inputs = {special({1, 1, 2, 61}), absent(), floats({1, 1, 1, 1.7})},
         .terms = kTerms});
}
TEST(Resize, Volumes) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (std::vector<int64_t> size : std::vector<std::vector<int64_t>>{
             {2, 17, 6, 10, 14}, {2, 17, 2, 3, 5}, {2, 17, 5, 5, 7}, {2, 17, 3, 1, 13}, {2, 17, 1, 5, 9}})
      check({.op = "resize",
             .attributes = {{"mode", mode}, {"coordinates", "align_corners"}},
             .inputs = {uniform({2, 17, 3, 5, 7}), absent(), absent(), ints(size)},
             .terms = 8 * kTerms,
             .expect_kernel = "resize_"});
  check({.op = "resize",
         .attributes = {{"mode", "linear"}},
         .inputs = {uniform({1, 3, 1, 4, 1, 5}), absent(), floats({1, 1, 3, 2, 2, 1.5})},
         .terms = 8 * kTerms,
         .expect_kernel = "resize_"});
  check({.op = "resize",
         .attributes = {{"mode", "linear"}},
         .inputs = {special({1, 2, 3, 4, 4}), absent(), floats({1, 1, 1.5, 1, 1.5})},
         .terms = 8 * kTerms});
}
TEST(Resize, Options) {
  check({.op = "resize",
         .attributes = {{"mode", "linear"}, {"antialias", true}},
         .inputs = {uniform({1, 2, 9, 8}), absent(), absent(), ints({1, 2, 4, 3})},
         .terms = 32});
  check({.op = "resize",
         .attributes = {{"mode", "cubic"}, {"exclude_outside", true}},
         .inputs = {uniform({1, 2, 9, 8}), absent(), floats({1, 1, 0.6, 1.5})},
         .terms = 32});
  check({.op = "resize",
         .attributes = {{"coordinates", "tf_crop_and_resize"}, {"mode", "linear"}, {"extrapolation", 10.0}},
         .inputs = {uniform({1, 1, 4, 4}), floats({0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7}), absent(), ints({1, 1, 3, 3})},
         .terms = kTerms});
  check({.op = "resize",
         .attributes = {{"policy", "not_larger"}, {"axes", std::vector<int64_t>{3, 2}}},
         .inputs = {uniform({1, 1, 2, 4}), absent(), absent(), ints({7, 8})},
         .expect = {{.dims = {{1, 1, 4, 7}}}}});
  for (const char* nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"})
    check({.op = "resize",
           .attributes = {{"nearest", nearest}},
           .inputs = {with_dtype(uniform({3, 5}, 0, 200), DType::kU8), absent(), floats({1, 0.5})}});
  check_error({.op = "resize", .inputs = {uniform({1, 1, 2, 2})}}, Code::kBadShape);
  check_error({.op = "resize", .inputs = {uniform({2, 2}), absent(), floats({1, -1})}}, Code::kBadValue);
}
TEST(GridSample, Modes) {
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (bool align : {false, true})
        check({.op = "grid_sample",
               .attributes = {{"mode", mode}, {"padding", padding}, {"align_corners", align}},
               .inputs = {uniform({2, 3, 5, 4}), uniform({2, 3, 6, 2}, -1.5, 1.5)},
               .terms = 2 * kTerms,
               .expect_kernel = "grid_sample_f32"});
  // Volumes and lines, and more points than a task has.
  for (const char* mode : {"linear", "cubic"}) {
    check({.op = "grid_sample",
           .attributes = {{"mode", mode}, {"padding", "reflection"}},
           .inputs = {uniform({1, 2, 3, 5, 4}), uniform({1, 2, 3, 7, 3}, -1.5, 1.5)},
           .terms = 8 * kTerms,
           .expect_kernel = "grid_sample_f32"});
    check({.op = "grid_sample",
           .attributes = {{"mode", mode}},
           .inputs = {uniform({2, 1, 9}), uniform({2, 1031, 1}, -1.5, 1.5)},
           .terms = kTerms,
           .expect_kernel = "grid_sample_f32"});
  }
  // Places that are no numbers, far outside or on edges, and numbers that only a tap outside would meet.
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"}) {
      check({.op = "grid_sample",
             .attributes = {{"mode", mode}, {"padding", padding}},
             .inputs = {uniform({1, 3, 2, 1}), special({1, 4, 9, 2})},
             .terms = 2 * kTerms,
             .expect_kernel = "grid_sample_f32"});
      check({.op = "grid_sample",
             .attributes = {{"mode", mode}, {"padding", padding}},
             .inputs = {special({1, 2, 3, 3}), uniform({1, 4, 9, 2}, -2, 2)},
             .terms = 2 * kTerms});
    }
}
TEST(GridSample, Channels) {
  // Neighbours (channels last), few channels, or few points: others are left to a copy with channels last.
  for (const int64_t channels : {1, 3, 4, 17, 67, 130})
    for (const int64_t points : {1, 15, 200})
      for (const DType grid : {DType::kF32, DType::kF64})
        check({.op = "grid_sample",
               .attributes = {{"padding", channels % 2 ? "zeros" : "border"}},
               .inputs = {uniform({2, channels, 9, 7}), uniform({2, 1, points, 2}, -1.2, 1.2, 3, grid)},
               .terms = kTerms,
               .expect_kernel = channels < 4 || points < 15 ? "grid_sample_f32" : ""});
  check({.op = "grid_sample", .inputs = {uniform({2, 0, 4, 4}), uniform({2, 3, 3, 2})}});
  check({.op = "grid_sample", .inputs = {uniform({2, 5, 4, 4}), uniform({2, 0, 3, 2})}});
}
TEST(AffineGrid, OnKernels) {
  for (const DType type : {DType::kF32, DType::kF64})
    for (const bool align : {false, true})
      for (std::vector<double> size : std::vector<std::vector<double>>{
               {2, 3, 5, 7}, {2, 1, 1, 1}, {2, 3, 1, 130}, {2, 3, 4, 1, 6}, {2, 1, 3, 5, 2}, {2, 3, 0, 7}}) {
        const auto axes = static_cast<int64_t>(size.size()) - 2;
        const Spec sizes = constant(list({axes + 2}, size, DType::kI64));
        const bool any = std::ranges::find(size, 0.0) == size.end();
        const std::string kernel = !any ? "" : type == DType::kF32 ? "affine_grid_f32" : "affine_grid_f64";
        check({.op = "affine_grid",
               .attributes = {{"align_corners", align}},
               .inputs = {uniform({2, axes, axes + 1}, -2, 2, 1, type), sizes},
               .terms = 1,
               .expect_kernel = kernel});
        check({.op = "affine_grid",
               .attributes = {{"align_corners", align}},
               .inputs = {special({2, axes, axes + 1}, 1, type), sizes},
               .terms = 1});
      }
}
TEST(Regions, AlignedOnKernels) {
  const Spec regions = list({4, 4}, {0.5, 1, 9, 7.25, -3, -2, 4, 12, 6, 5, 2, 3, 20, 20, 30, 30});
  const Spec pictures = list({4}, {0, 1, 1, 0}, DType::kI64);
  for (int sampling : {0, 1, 2, 3})
    for (bool max : {false, true})
      for (bool half : {false, true})
        for (int64_t channels : {1, 5, 70})  // 70: two groups that stay in registers, and six more
          check(
              {.op = "roi_align",
               .attributes = {{"height", 3}, {"width", 2}, {"sampling", sampling}, {"max", max}, {"half_pixel", half}},
               .inputs = {uniform({2, channels, 8, 11}), regions, pictures},
               .terms = kTerms,
               .expect_kernel = "roi_align_f32"});
  check({.op = "roi_align",
         .attributes = {{"height", 3}, {"width", 2}, {"sampling", 2}},
         .inputs = {list({1, 2, 3, 3}, {1, kNan, 2, 3, kInfinity, 4, 5, 6, 0, -0.0, 7, -kInfinity, 8, 9, 1, 2, 3, 4}),
                    list({2, 4}, {0, 0, 2, 2, 1, -5, 3, 2}), list({2}, {0, 0}, DType::kI64)},
         .terms = kTerms,
         .expect_kernel = "roi_align_f32"});
  // More samples in a bin than the kernel's table holds.
  for (bool max : {false, true})
    check({.op = "roi_align",
           .attributes = {{"sampling", 0}, {"max", max}},
           .inputs = {uniform({1, 2, 60, 60}), list({1, 4}, {3, 2, 55, 50}), list({1}, {0}, DType::kI64)},
           .terms = 4 * 52 * 48,
           .expect_kernel = "roi_align_f32"});
  check_error(
      {.op = "roi_align", .inputs = {iota({1, 1, 4, 4}), list({1, 4}, {0, 2e9, 4, 4}), list({1}, {0}, DType::kI64)}},
      Code::kBadValue);
}
TEST(Regions, Pooling) {
  check({.op = "max_roi_pool",
         .attributes = {{"pooled_shape", std::vector<int64_t>{2, 2}}},
         .inputs = {iota({1, 1, 4, 4}), list({1, 5}, {0, 0, 0, 3, 3})},
         .expect = {{.numbers = {5, 7, 13, 15}}}});
  check({.op = "roi_align",
         .attributes = {{"height", 1}, {"width", 1}, {"sampling", 1}},
         .inputs = {iota({1, 1, 4, 4}), list({1, 4}, {0, 0, 4, 4}), ints({0})},
         .expect = {{.numbers = {7.5}}}});
  check_error({.op = "roi_align", .inputs = {iota({1, 1, 4, 4}), list({1, 4}, {0, 0, 4, 4}), ints({1})}},
              Code::kBadValue);
  check({.op = "affine_grid",
         .attributes = {{"align_corners", true}},
         .inputs = {list({1, 2, 3}, {1, 0, 0, 0, 1, 0}), ints({1, 1, 2, 2})},
         .expect = {{.numbers = {-1, -1, 1, -1, -1, 1, 1, 1}}}});
}

}  // namespace
}  // namespace mica::suite
