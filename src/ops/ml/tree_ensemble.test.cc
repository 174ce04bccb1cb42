#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

// x0 <= 1 ? (x1 > 0 ? 10 : 20) : 30, and a second tree that gives target 1 a weight when x0 is 2 or 5.
Problem problem(std::vector<double> x, const char* aggregate) {
  const auto rows = static_cast<int64_t>(x.size()) / 2;
  return {.op = "tree_ensemble",
          .attributes = {{"targets", 2}, {"aggregate", aggregate}},
          .inputs = {list({rows, 2}, std::move(x)),
                     constant(list({8, 7}, {0, 0, 1, 4, 0, 0, 0,  //
                                            3, 1, 2, 3, 1, 0, 0,  //
                                            7, 0, 0, 1, 0, 0, 0,  //
                                            7, 0, 1, 2, 0, 0, 0,  //
                                            7, 0, 2, 3, 0, 0, 0,  //
                                            6, 0, 6, 7, 0, 0, 2,  //
                                            7, 0, 3, 5, 0, 0, 0,  //
                                            7, 0, 5, 5, 0, 0, 0},
                                   DType::kI64)),
                     constant(list({8}, {1, 0, 0, 0, 0, 0, 0, 0})), constant(list({2}, {0, 5}, DType::kI64)),
                     constant(list({5}, {0, 0, 0, 1, 0}, DType::kI64)), constant(list({5}, {10, 20, 30, 7, -4})),
                     constant(list({2}, {2, 5}))},
          .expect_kernel = "tree_ensemble_f32"};
}

TEST(TreeEnsemble, Decides) {
  Problem p = problem({1, 1, 1, 0, 2, 0, 5, -1, 1, NAN, NAN, 0}, "sum");
  p.expect = {{.numbers = {10, 0, 20, 0, 26, 7, 26, 7, 10, 0, 30, 0}}};
  check(p);
}

TEST(TreeEnsemble, Aggregates) {
  Problem p = problem({2, 0, 1, 1}, "average");
  p.expect = {{.numbers = {13, 3.5, 5, 0}}};
  check(p);
  p = problem({2, 0, 1, 1}, "min");
  p.expect = {{.numbers = {-4, 7, 10, 0}}};
  check(p);
  p = problem({2, 0, 1, 1}, "max");
  p.expect = {{.numbers = {30, 7, 10, 0}}};
  check(p);
}

TEST(TreeEnsemble, RefusesWhatLeadsAstray) {
  Problem p = problem({1, 1}, "sum");
  p.inputs[3] = list({2}, {0, 8}, DType::kI64);
  check_error(p, Code::kBadValue);
  p = problem({1, 1}, "sum");
  p.inputs[4] = list({5}, {0, 0, 0, 2, 0}, DType::kI64);
  check_error(p, Code::kBadValue);
  p = problem({1, 1}, "sum");
  p.inputs[1] = list({1, 7}, {0, 0, 0, 0, 0, 0, 0}, DType::kI64);  // leads to itself
  p.inputs[2] = list({1}, {0});
  p.inputs[3] = list({1}, {0}, DType::kI64);
  check_error(p, Code::kBadValue);
}

}  // namespace
}  // namespace mica::suite
