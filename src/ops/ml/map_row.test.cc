#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

TEST(MapRow, ByRisingKey) {
  check({.op = "map_row",
         .inputs = {list({3}, {7, -2, 3}, DType::kI64), list({3}, {1.5, 2.5, NAN})},
         .expect = {{.numbers = {2.5, NAN, 1.5}, .dims = std::vector<int64_t>{1, 3}}}});
  check({.op = "map_row",
         .inputs = {list({0}, {}, DType::kI64), list({0}, {})},
         .expect = {{.numbers = {}, .dims = std::vector<int64_t>{1, 0}}}});
}

TEST(MapRow, ByPlace) {
  Problem p = {.op = "map_row",
               .attributes = {{"size", int64_t{4}}},
               .inputs = {list({3}, {3, 9, 1}, DType::kI64), list({3}, {1.5, 2.5, -1})},
               .expect = {{.numbers = {0, -1, 0, 1.5}, .dims = std::vector<int64_t>{1, 4}}}};
  check(p);
  p.inputs[1] = list({3}, {1, 2, -3}, DType::kI64);
  p.expect = {{.numbers = {0, -3, 0, 1}}};
  check(p);
  p.attributes = {{"size", int64_t{0}}};
  p.expect = {{.numbers = {}, .dims = std::vector<int64_t>{1, 0}}};
  check(p);
}

TEST(MapRow, AsTexts) {
  check({.op = "map_row",
         .attributes = {{"text", true}},
         .inputs = {list({4}, {4, 3, 2, 1}, DType::kI64), list({4}, {1.5, NAN, 1e20, -2.5}, DType::kF64)},
         .expect = {{.texts = {"-2.500000", "100000000000000000000.000000", "nan", "1.500000"}}}});
  check({.op = "map_row",
         .attributes = {{"text", true}, {"size", int64_t{2}}},
         .inputs = {list({1}, {1}, DType::kI64), list({1}, {-INFINITY})},
         .expect = {{.texts = {"0.f", "-inf"}}}});
}

TEST(MapRow, Refuses) {
  Problem p = {.op = "map_row", .inputs = {list({2}, {1, 1}, DType::kI64), list({2}, {1, 2})}};
  check_error(p, Code::kBadValue);  // a key that comes twice
  p.inputs[1] = list({3}, {1, 2, 3});
  check_error(p, Code::kBadShape);
  p.inputs = {list({2}, {1, 2}), list({2}, {1, 2})};
  check_error(p, Code::kBadType);
  p.inputs = {list({1, 2}, {1, 2}, DType::kI64), list({1, 2}, {1, 2})};
  check_error(p, Code::kBadRank);
  p.inputs = {list({2}, {1, -1}, DType::kI64), list({2}, {1, 2})};
  p.attributes = {{"size", int64_t{4}}};
  check_error(p, Code::kBadValue);  // a place below none
}

}  // namespace
}  // namespace mica::suite
