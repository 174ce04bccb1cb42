#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

// Of numbers of size 1 whose deviation is about 0.6, an error of the mean is magnified by less than 2.
constexpr double kTerms = 24;

TEST(BatchNorm, Inference) {
  for (std::vector<int64_t> dims :
       std::vector<std::vector<int64_t>>{{2, 3}, {1, 5, 7}, {2, 19, 3, 5}, {1, 33, 1, 1}, {2, 3, 2, 2, 2}, {0, 3, 4}}) {
    const int64_t c = dims[1];
    check({.op = "batch_norm",
           .inputs = {uniform(dims), uniform({c}, 0.5, 2, 2), uniform({c}, -1, 1, 3), uniform({c}, -1, 1, 4),
                      uniform({c}, 0.1, 2, 5)},
           .scale = 6});
    check({.op = "batch_norm",
           .inputs = {uniform(dims), constant(uniform({c}, 0.5, 2, 2)), constant(uniform({c}, -1, 1, 3)),
                      constant(uniform({c}, -1, 1, 4)), constant(uniform({c}, 0.1, 2, 5))},
           .scale = 6,
           .expect_kernel = dims[0] ? "batch_norm_f32" : ""});
  }
  check({.op = "batch_norm",
         .attributes = {{"epsilon", 0.0}},
         .inputs = {list({1, 2}, {3, 5}), list({2}, {2, 1}), list({2}, {10, 0}), list({2}, {1, 1}), list({2}, {4, 16})},
         .expect = {{.numbers = {12, 1}}}});
  check_error({.op = "batch_norm", .inputs = {uniform({1, 2}), uniform({3}), uniform({2}), uniform({2}), uniform({2})}},
              Code::kBadShape);
}
TEST(BatchNorm, Training) {
  check({.op = "batch_norm",
         .attributes = {{"training", true}, {"epsilon", 0.0}, {"momentum", 0.5}},
         .inputs = {list({2, 1}, {1, 3}), list({1}, {1}), list({1}, {0}), list({1}, {10}), list({1}, {20})},
         .outputs = 3,
         .expect = {{.numbers = {-1, 1}}, {.numbers = {6}}, {.numbers = {10.5}}}});
  check({.op = "batch_norm",
         .attributes = {{"training", true}},
         .inputs = {uniform({3, 5, 4}), uniform({5}), uniform({5}), uniform({5}), uniform({5}, 1, 2)},
         .outputs = 3,
         .terms = kTerms});
}
TEST(BatchNorm, PerActivation) {
  check({.op = "batch_norm",
         .inputs = {uniform({2, 3, 4}), uniform({3, 4}), uniform({3, 4}), uniform({3, 4}), uniform({3, 4}, 1, 2)},
         .scale = 4});
}

TEST(InstanceNorm, Shapes) {
  for (std::vector<int64_t> dims :
       std::vector<std::vector<int64_t>>{{2, 3, 7}, {1, 19, 5, 5}, {2, 2, 33, 17}, {1, 2, 1}, {2, 3, 2, 2, 5}})
    check({.op = "instance_norm",
           .inputs = {uniform(dims), uniform({dims[1]}, 0.5, 2, 2), uniform({dims[1]}, -1, 1, 3)},
           .terms = kTerms,
           .scale = 4,
           .expect_kernel = "instance_norm_f32"});
  check({.op = "instance_norm",
         .attributes = {{"epsilon", 0.0}},
         .inputs = {list({1, 1, 2}, {1, 3}), list({1}, {2}), list({1}, {5})},
         .expect = {{.numbers = {3, 7}}}});
  check({.op = "instance_norm",
         .inputs = {list({1, 2, 3}, {NAN, 1, 2, 3, 4, 5}), uniform({2}), uniform({2})},
         .terms = kTerms});
}
TEST(GroupNorm, Shapes) {
  for (int groups : {1, 2, 6})
    for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{{2, 6, 7}, {1, 6, 5, 5}, {2, 36, 3}, {2, 6}})
      check({.op = "group_norm",
             .attributes = {{"groups", groups}},
             .inputs = {uniform(dims), uniform({dims[1]}, 0.5, 2, 2), uniform({dims[1]}, -1, 1, 3)},
             .terms = kTerms,
             .scale = groups == 6 ? 600.0 : 4,  // groups of one element: 1 / sqrt(epsilon) magnifies
             .expect_kernel = "group_norm_f32"});
  check({.op = "group_norm",
         .attributes = {{"groups", 2}, {"per_group", true}},
         .inputs = {uniform({2, 6, 7}), uniform({2}), uniform({2})},
         .terms = kTerms,
         .scale = 4});
  check_error(
      {.op = "group_norm", .attributes = {{"groups", 4}}, .inputs = {uniform({2, 6, 7}), uniform({6}), uniform({6})}},
      Code::kBadShape);
}
TEST(LayerNorm, Shapes) {
  for (std::vector<int64_t> dims :
       std::vector<std::vector<int64_t>>{{1, 1}, {3, 5}, {2, 7, 67}, {5, 192}, {2, 3, 4, 5}, {0, 4}})
    for (int axis : {-1, 1}) {
      std::vector<int64_t> rest(axis < 0 ? dims.end() - 1 : dims.begin() + 1, dims.end());
      for (int outputs : {1, 3})
        check({.op = "layer_norm",
               .attributes = {{"axis", axis}},
               .inputs = {uniform(dims), uniform(rest, 0.5, 2, 2), uniform(rest, -1, 1, 3)},
               .outputs = outputs,
               .terms = kTerms,
               .scale = 4,
               .expect_kernel = dims[0] ? "layer_norm_f32" : ""});
      check({.op = "layer_norm",
             .attributes = {{"axis", axis}},
             .inputs = {uniform(dims), uniform(rest, 0.5, 2, 2)},
             .terms = kTerms,
             .scale = 4});
      check({.op = "rms_norm",
             .attributes = {{"axis", axis}},
             .inputs = {uniform(dims), uniform(rest, 0.5, 2, 2)},
             .terms = kTerms,
             .scale = 4,
             .expect_kernel = dims[0] ? "rms_norm_f32" : ""});
    }
  check({.op = "layer_norm",
         .attributes = {{"epsilon", 0.0}},
         .inputs = {list({1, 2}, {1, 3}), list({2}, {1, 2}), list({1}, {5})},
         .outputs = 3,
         .expect = {{.numbers = {4, 7}}, {.numbers = {2}}, {.numbers = {1}}}});
  check({.op = "rms_norm",
         .attributes = {{"epsilon", 0.0}},
         .inputs = {list({1, 2}, {3, -3}), scalar(2)},
         .expect = {{.numbers = {2, -2}}}});
  check({.op = "layer_norm", .inputs = {list({2, 3}, {1, NAN, 2, 1, 2, 3}), uniform({3})}, .terms = kTerms});
  check_error({.op = "layer_norm", .inputs = {uniform({2, 3}), uniform({4})}}, Code::kBadShape);
}
TEST(LpNorm, Lengths) {
  check({.op = "lp_norm", .inputs = {list({2, 2}, {3, 4, 0, 0})}, .expect = {{.numbers = {0.6, 0.8, 0, 0}}}});
  check({.op = "lp_norm",
         .attributes = {{"axis", 0}, {"p", 1}},
         .inputs = {list({2, 2}, {3, 4, -1, 4})},
         .expect = {{.numbers = {0.75, 0.5, -0.25, 0.5}}}});
  check({.op = "lp_norm", .attributes = {{"axis", 1}}, .inputs = {uniform({3, 5, 17})}, .terms = kTerms});
}
TEST(Lrn, Windows) {
  for (int size : {1, 3, 4, 5})
    for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{{1, 2}, {2, 5, 3, 3}, {1, 17, 33}})
      check({.op = "lrn",
             .attributes = {{"size", size}, {"alpha", 0.2}, {"beta", 0.75}, {"bias", 1.5}},
             .inputs = {uniform(dims, -3, 3)},
             .units = 12,
             .expect_kernel = "lrn_f32"});
  // Blocks of channels, and windows wider than what is kept around one.
  for (int size : {2, 7, 120, 200})
    check({.op = "lrn",
           .attributes = {{"size", size}, {"alpha", 0.2}, {"beta", 0.75}, {"bias", 1.5}},
           .inputs = {uniform({1, 530, 3}, -3, 3)},
           .units = 12.0 + size,
           .expect_kernel = "lrn_f32"});
  check({.op = "lrn",
         .attributes = {{"size", 3}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 1.0}},
         .inputs = {list({1, 3, 1}, {1, 2, 3})},
         .expect = {{.numbers = {1.0 / 6, 2.0 / 15, 3.0 / 14}}}});
}
TEST(MeanVarianceNorm, Axes) {
  check({.op = "mean_variance_norm",
         .attributes = {{"axes", std::vector<int64_t>{0}}},
         .inputs = {list({2, 2}, {1, 5, 3, 5})},
         .expect = {{.numbers = {-1, 0, 1, 0}}},
         .scale = 1});
  check({.op = "mean_variance_norm", .inputs = {uniform({3, 4, 5, 6})}, .terms = kTerms});
}

}  // namespace
}  // namespace mica::suite
