#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

using List = std::vector<int64_t>;

Problem pool(const char* op, std::vector<Attribute> attributes, List x, const char* kernel) {
  return {.op = op,
          .attributes = std::move(attributes),
          .inputs = {uniform(std::move(x))},
          .terms = 40,
          .scale = 40,
          .expect_kernel = kernel};
}

TEST(Pool, Windows) {
  for (const auto& [op, kernel] :
       {std::pair{"max_pool", "max_pool_f32"}, {"average_pool", "average_pool_f32"}, {"lp_pool", "lp_pool_f32"}}) {
    check(pool(op, {{"kernel", List{2, 3}}, {"strides", List{2, 1}}}, {2, 5, 7, 9}, kernel));
    check(
        pool(op, {{"kernel", List{3, 3}}, {"strides", List{2, 2}}, {"pads", List{1, 1, 1, 1}}}, {1, 19, 6, 5}, kernel));
    check(pool(op, {{"kernel", List{3, 3}}, {"strides", List{2, 2}}, {"pads", List{0, 0, 1, 1}}, {"ceil_mode", true}},
               {1, 3, 6, 7}, kernel));
    check(pool(op, {{"kernel", List{3}}, {"dilations", List{2}}}, {1, 3, 12}, kernel));
    check(pool(op, {{"kernel", List{9, 3}}, {"strides", List{9, 3}}, {"ceil_mode", true}}, {1, 3, 2, 5}, kernel));
    check(pool(op, {{"kernel", List{2, 2, 2}}, {"auto_pad", "same_lower"}}, {1, 2, 4, 3, 5}, kernel));
  }
}

TEST(Pool, Global) {
  check(pool("global_max_pool", {}, {2, 5, 7, 9}, "global_max_pool_f32"));
  check(pool("global_average_pool", {}, {2, 17, 7, 7}, "global_average_pool_f32"));
  check(pool("global_lp_pool", {{"p", 1}}, {2, 3, 4}, "global_lp_pool_f32"));
}

TEST(AveragePool, PaddingCounts) {
  check({.op = "average_pool",
         .attributes = {{"kernel", List{2}}, {"pads", List{1, 0}}, {"count_include_pad", true}},
         .inputs = {list({1, 1, 2}, {4, 8})},
         .expect = {{.numbers = {2, 6}}}});
  check({.op = "average_pool",
         .attributes = {{"kernel", List{2}}, {"pads", List{1, 0}}},
         .inputs = {list({1, 1, 2}, {4, 8})},
         .expect = {{.numbers = {4, 6}}}});
}

TEST(Pool, WindowLargerThanThePicture) {
  // Rounded up there is one window, which reaches beyond the end; the mean is over what it sees.
  check({.op = "average_pool",
         .attributes = {{"kernel", List{5}}, {"strides", List{5}}, {"ceil_mode", true}},
         .inputs = {list({1, 1, 2}, {4, 8})},
         .expect = {{.numbers = {6}}}});
  const std::vector<Attribute> beyond = {{"kernel", List{5}}, {"strides", List{3}}, {"ceil_mode", true}};
  check_error({.op = "max_pool", .attributes = beyond, .inputs = {list({1, 1, 2}, {4, 8})}}, Code::kBadShape);
  check_error({.op = "max_pool", .attributes = {{"kernel", List{5}}}, .inputs = {list({1, 1, 2}, {4, 8})}},
              Code::kBadShape);
}

TEST(MaxPool, IndicesAndBytes) {
  Problem p{.op = "max_pool",
            .attributes = {{"kernel", List{2, 2}}},
            .inputs = {list({1, 1, 2, 3}, {1, 5, 5, 4, 0, 5})},
            .outputs = 2};
  p.expect = {{.numbers = {5, 5}}, {.numbers = {1, 1}}};
  check(p);
  p.attributes.emplace_back("column_major", true);
  p.expect = {{.numbers = {5, 5}}, {.numbers = {2, 2}}};
  check(p);
  check({.op = "max_pool",
         .attributes = {{"kernel", List{2}}},
         .inputs = {list({1, 1, 3}, {-3, -128, -5}, DType::kI8)},
         .expect = {{.numbers = {-3, -5}}}});
}

TEST(MaxPool, IndicesOnTheKernels) {
  struct Case {
    std::vector<int64_t> dims;
    std::vector<Attribute> attributes;
  };
  for (const Case& c :
       std::vector<Case>{{{2, 19, 8, 6}, {{"kernel", List{2, 2}}, {"strides", List{2, 2}}}},
                         {{1, 3, 9, 7}, {{"kernel", List{3, 2}}, {"strides", List{2, 1}}, {"pads", List{1, 0, 1, 1}}}},
                         {{1, 16, 9, 11}, {{"kernel", List{3, 3}}, {"dilations", List{2, 3}}, {"ceil_mode", true}}},
                         {{2, 5, 17}, {{"kernel", List{4}}, {"strides", List{3}}}},
                         {{1, 2, 5, 4, 6}, {{"kernel", List{2, 3, 2}}, {"pads", List{1, 1, 1, 1, 1, 1}}}}})
    for (const bool column_major : {false, true})
      for (const bool extremes : {false, true}) {
        Problem p{.op = "max_pool",
                  .attributes = c.attributes,
                  .inputs = {extremes ? special(c.dims) : uniform(c.dims)},
                  .outputs = 2,
                  .expect_kernel = "max_pool_places"};
        p.attributes.emplace_back("column_major", column_major);
        check(p);
      }
  // Few values: of equal ones the first counts.
  Problem p{.op = "max_pool",
            .attributes = {{"kernel", List{3, 3}}, {"pads", List{1, 1, 1, 1}}},
            .inputs = {uniform({1, 4, 12, 9}, 0, 3, 1, DType::kI8)},
            .outputs = 2};
  check(p);
  p.inputs = {list({1, 1, 4, 4}, {-INFINITY})};
  p.expect_kernel = "max_pool_places";
  check(p);
}

TEST(MaxPool, BytesOnTheKernels) {
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    Problem p{.op = "max_pool",
              .attributes = {{"kernel", List{3, 3}}, {"strides", List{2, 2}}, {"pads", List{1, 1, 1, 1}}}};
    p.inputs = {uniform({2, 19, 7, 6}, dtype == DType::kU8 ? 0 : -128, dtype == DType::kU8 ? 255 : 127, 1, dtype)};
    p.expect_kernel = "max_pool_8bit";
    p.epilogues = false;
    check(p);
  }
}

TEST(MaxPool, Refuses) {
  check_error(pool("max_pool", {{"kernel", List{3, 3}}}, {1, 1, 2, 2}, ""), Code::kBadShape);
  check_error(pool("max_pool", {{"kernel", List{3}}}, {1, 1, 2, 2}, ""), Code::kBadAttribute);
}

TEST(MaxUnpool, PutsElementsBack) {
  check({.op = "max_unpool",
         .attributes = {{"kernel", List{2}}, {"strides", List{2}}},
         .inputs = {list({1, 1, 2}, {7, 9}), list({1, 1, 2}, {1, 2}, DType::kI64)},
         .expect = {{.numbers = {0, 7, 9, 0}}}});
  check_error({.op = "max_unpool",
               .attributes = {{"kernel", List{2}}, {"strides", List{2}}},
               .inputs = {list({1, 1, 2}, {7, 9}), list({1, 1, 2}, {1, 4}, DType::kI64)}},
              Code::kBadValue);
}

}  // namespace
}  // namespace mica::suite
