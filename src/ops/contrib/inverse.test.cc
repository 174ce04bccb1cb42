#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

TEST(Inverse, Values) {
  check({.op = "inverse", .inputs = {list({2, 2}, {4, 7, 2, 6})}, .expect = {{.numbers = {0.6, -0.7, -0.2, 0.4}}}});
  check({.op = "inverse", .inputs = {list({1, 1}, {-4})}, .expect = {{.numbers = {-0.25}}}});
  // A zero on the diagonal needs its rows exchanged.
  check({.op = "inverse", .inputs = {list({2, 2}, {0, 2, 1, 0})}, .expect = {{.numbers = {0, 1, 0.5, 0}}}});
}

TEST(Inverse, ManyAndNone) {
  check({.op = "inverse",
         .inputs = {list({2, 1, 2, 2}, {1, 0, 0, 1, 2, 0, 0, 8})},
         .expect = {{.numbers = {1, 0, 0, 1, 0.5, 0, 0, 0.125}}}});
  check({.op = "inverse", .inputs = {uniform({0, 3, 3})}});
  check({.op = "inverse", .inputs = {uniform({2, 0, 0})}});
}

TEST(Inverse, Refuses) {
  check_error({.op = "inverse", .inputs = {uniform({2, 3})}}, Code::kBadShape);
  check_error({.op = "inverse", .inputs = {uniform({3})}}, Code::kBadRank);
  check_error({.op = "inverse", .inputs = {list({1, 1}, {1}, DType::kI32)}}, Code::kBadType);
}

}  // namespace
}  // namespace mica::suite
