#include <gtest/gtest.h>

#include "problem.h"

namespace mica::suite {
namespace {

Problem three_classes() {
  // Vectors 0; 1, 2; 3. Decisions: 0-1: k0 - k1 + 2 k2 + 0.5, 0-2: 3 k0 + k3, 1-2: 2 k1 - k2 + k3 - 1.
  return {.op = "svm_scores",
          .inputs = {list({2, 4}, {1, 0, 0, 0, 0, 2, 0, 1}), list({2, 4}, {1, -1, 2, 1, 3, 2, -1, 1}),
                     list({3}, {0.5, 0, -1}), list({3}, {1, 2, 1}, DType::kI64)},
          .outputs = 2};
}

TEST(SvmScores, Decides) {
  Problem p = three_classes();
  p.expect = {{.numbers = {1.5, 3, -1, -1.5, 1, 4}}, {.numbers = {2, 0, 1, 1, 2, 0}}};
  check(p);
}

TEST(SvmScores, ProbabilitiesOfAnEvenMatch) {
  Problem p = three_classes();
  for (const double b : {0.0, 0.0}) p.inputs.push_back(list({3}, {b, b, b}));
  const double third = 1.0 / 3;
  p.expect = {{.numbers = {third, third, third, third, third, third}}};
  check(p);
}

TEST(SvmScores, Refuses) {
  Problem p = three_classes();
  p.inputs[3] = list({3}, {1, 4, 1}, DType::kI64);
  check_error(p, Code::kBadValue);
  p = three_classes();
  p.inputs[2] = list({2}, {0, 0});
  check_error(p, Code::kBadShape);
}

}  // namespace
}  // namespace mica::suite
