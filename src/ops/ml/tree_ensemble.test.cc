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

// How the two nodes of a tree compare, and whether NaN counts as true in the first.
struct Kind {
  double first, second, missing;
  DType dtype;
};

// Eleven trees, one of which is a leaf.
Problem forest(const Kind& kind, int64_t rows) {
  std::vector<double> nodes, thresholds, roots, targets, weights;
  for (double tree = 0; tree < 11; ++tree) {
    const auto base = static_cast<double>(nodes.size()) / 7;
    roots.push_back(base);
    const double leaf = 3 * tree;
    if (tree == 4) {
      nodes.insert(nodes.end(), {7, 0, leaf, leaf + 2, 0, 0, 0});
      thresholds.push_back(0);
      continue;
    }
    nodes.insert(nodes.end(), {kind.first, 0, base + 1, base + 2, kind.missing, 0, 0});
    nodes.insert(nodes.end(), {7, 0, leaf, leaf + 1, 0, 0, 0});
    nodes.insert(nodes.end(), {kind.second, 2, base + 3, base + 4, 0, 0, 0});
    nodes.insert(nodes.end(), {7, 0, leaf + 1, leaf + 2, 0, 0, 0});
    nodes.insert(nodes.end(), {7, 0, leaf + 2, leaf + 3, 0, 0, 0});
    thresholds.insert(thresholds.end(), {tree / 5 - 1, 0, 0.5 - tree / 9, 0, 0});
  }
  for (int i = 0; i < 33; ++i) targets.push_back(i % 2), weights.push_back(i * 0.25 - 3);
  const auto of = [](const std::vector<double>& v) { return static_cast<int64_t>(v.size()); };
  return {.op = "tree_ensemble",
          .attributes = {{"targets", 2},
                         {"aggregate", rows == 3   ? "max"
                                       : rows == 8 ? "average"
                                                   : "sum"}},
          .inputs = {rows > 1 ? special({rows, 3}, 3, kind.dtype) : uniform({rows, 3}, -2, 2, 7, kind.dtype),
                     constant(list({of(nodes) / 7, 7}, nodes, DType::kI64)),
                     constant(list({of(thresholds)}, thresholds, kind.dtype)), constant(list({11}, roots, DType::kI64)),
                     constant(list({33}, targets, DType::kI64)), constant(list({33}, weights, kind.dtype))},
          .expect_kernel = kind.dtype == DType::kF64 ? "tree_ensemble_f64" : "tree_ensemble_f32"};
}

// Forests whose nodes ask alike, or each other's contrary, are walked several ways at a time: of one row, a few and
// many; with NaN on either side. Others (< beside <=, equality) are decided node by node, as is what compares with NaN.
TEST(TreeEnsemble, WalksWhereNodesAskAlike) {
  for (const DType dtype : {DType::kF32, DType::kF64})
    for (const double missing : {0, 1})
      for (const auto& [first, second] : std::vector<std::pair<double, double>>{
               {0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 3}, {3, 0}, {1, 2}, {0, 1}, {3, 2}, {4, 0}})
        for (int64_t rows : {1, 3, 8, 70, 129}) {
          Problem p = forest({first, second, missing, dtype}, rows);
          check(p);
          p.inputs[2].list[2] = NAN;
          check(p);
        }
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
