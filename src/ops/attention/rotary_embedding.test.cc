#include <gtest/gtest.h>

#include "problem.h"

namespace mica::suite {
namespace {

Problem problem(std::vector<int64_t> tables, std::vector<double> cosines, std::vector<double> sines) {
  return {.op = "rotary_embedding",
          .inputs = {list({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), list(tables, std::move(cosines)),
                     list(tables, std::move(sines))}};
}

TEST(RotaryEmbedding, OneBatchOfTablesServesAll) {
  const std::vector<double> wanted = {0, 1.25, -11, 2, 1, 4.25, -23, 6};
  Problem shared = problem({1, 2, 1}, {0.5, -1}, {0.25, 2});
  shared.expect = {{.numbers = wanted}};
  check(shared);
  Problem each = problem({2, 2, 1}, {0.5, -1, 0.5, -1}, {0.25, 2, 0.25, 2});
  each.expect = {{.numbers = wanted}};
  check(each);
}

TEST(RotaryEmbedding, TablesOfAnotherSizeAreRefused) {
  check_error(problem({1, 3, 1}, {1, 1, 1}, {0, 0, 0}), Code::kBadShape);
  check_error(problem({3, 2, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}), Code::kBadShape);
}

}  // namespace
}  // namespace mica::suite
