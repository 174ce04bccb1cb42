#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "problem.h"

namespace mica::suite {
namespace {

TEST(QuantizeLinear, PerTensor) {
  check({.op = "quantize_linear",
         .inputs = {list({6}, {0, 2, 3, 1000, -254, -1000}), scalar(2), scalar(128, DType::kU8)},
         .expect = {{.numbers = {128, 129, 130, 255, 1, 0}, .dtype = DType::kU8}}});
  check({.op = "quantize_linear",
         .inputs = {list({4}, {1, 3, 5, NAN}), scalar(2)},
         .expect = {{.numbers = {0, 2, 2, 0}}}});
}
TEST(QuantizeLinear, PerAxisAndBlocked) {
  for (DType dtype : {DType::kU8, DType::kI8, DType::kI16, DType::kU16, DType::kI4, DType::kU2})
    for (int axis : {1, -2, 2}) {
      const int64_t n = axis == 2 ? 5 : 3;
      check({.op = "quantize_linear",
             .attributes = {{"axis", axis}},
             .inputs = {uniform({2, 3, 5}, -9, 9), uniform({n}, 0.1, 1, 2), uniform({n}, 0, 2, 3, dtype)}});
      check({.op = "dequantize_linear",
             .attributes = {{"axis", axis}},
             .inputs = {special({2, 3, 5}, 1, dtype), uniform({n}, 0.1, 1, 2), uniform({n}, 0, 2, 3, dtype)}});
    }
  check({.op = "quantize_linear",
         .attributes = {{"axis", 1}, {"block", 2}},
         .inputs = {iota({1, 5}), list({1, 3}, {1, 2, 4})},
         .expect = {{.numbers = {0, 1, 1, 2, 1}}}});
  check({.op = "dequantize_linear",
         .attributes = {{"axis", 0}, {"block", 2}},
         .inputs = {iota({3, 2}, 0, 1, DType::kI8), list({2, 2}, {1, 10, 100, 1000})},
         .expect = {{.numbers = {0, 10, 2, 30, 400, 5000}}}});
  // One block of everything, however large it could be.
  constexpr auto kMost = std::numeric_limits<int64_t>::max();
  check({.op = "quantize_linear",
         .attributes = {{"axis", 1}, {"block", kMost}},
         .inputs = {iota({1, 5}), list({1, 1}, {2})},
         .expect = {{.numbers = {0, 0, 1, 2, 2}}}});
  check_error({.op = "quantize_linear",
               .attributes = {{"axis", 1}, {"block", kMost}},
               .inputs = {iota({2, 5}), uniform({2, 2}, 1, 2)}},
              Code::kBadShape);
  check_error({.op = "quantize_linear", .attributes = {{"axis", 1}}, .inputs = {uniform({2, 3}), uniform({2}, 1, 2)}},
              Code::kBadShape);
}
TEST(QuantizeLinear, KernelsRunEverywhere) {
  for (DType dtype : {DType::kU8, DType::kI8})
    for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{{1, 3, 5, 7}, {2, 67}, {1, 33, 1, 1}}) {
      const int64_t c = dims[1];
      for (int64_t n : {int64_t{1}, c}) {
        const std::vector<int64_t> shape = n == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{n};
        check({.op = "quantize_linear",
               .inputs = {special(dims), uniform(shape, 0.1, 1, 2), uniform(shape, 0, 99, 3, dtype)},
               .expect_kernel = "quantize_linear_f32"});
        check({.op = "dequantize_linear",
               .inputs = {special(dims, 1, dtype), uniform(shape, 0.1, 1, 2), uniform(shape, 0, 99, 3, dtype)},
               .expect_kernel = "dequantize_linear"});
      }
      check({.op = "dequantize_linear",
             .inputs = {uniform(dims, -1e6, 1e6, 1, DType::kI32), uniform({c}, 0.1, 1, 2)},
             .expect_kernel = "dequantize_linear_i32"});
    }
}
TEST(QuantizeLinear, Float8) {
  check({.op = "quantize_linear",
         .attributes = {{"dtype", DType::kF8E4m3fn}},
         .inputs = {list({3}, {1, 5000, -3}), scalar(2)},
         .expect = {{.numbers = {0.5, 448, -1.5}}}});
  check({.op = "quantize_linear",
         .attributes = {{"dtype", DType::kF4E2m1}},
         .inputs = {list({3}, {1, 100, -3}), scalar(2)},
         .expect = {{.numbers = {0.5, 6, -1.5}}}});
}
TEST(DynamicQuantizeLinear, RangeHoldsZero) {
  check({.op = "dynamic_quantize_linear",
         .inputs = {list({6}, {0, 2, -3, -2.5, 1.34, 0.5})},
         .outputs = 3,
         .expect = {{.numbers = {153, 255, 0, 26, 221, 179}}, {.numbers = {5.0 / 255}}, {.numbers = {153}}}});
  check(
      {.op = "dynamic_quantize_linear", .inputs = {list({2}, {0, 0})}, .outputs = 3, .expect = {{.numbers = {0, 0}}}});
}
TEST(QuantizeLinear, DynamicOnKernels) {
  // Several parts; special values decide the range of some.
  for (const auto& dims : std::vector<std::vector<int64_t>>{{1}, {3, 5}, {1, 33, 2, 3}, {3, 16384}, {2, 20011}})
    for (const bool ordinary : {true, false})
      check({.op = "dynamic_quantize_linear",
             .inputs = {ordinary ? uniform(dims, -3, 5) : special(dims)},
             .outputs = 3,
             .expect_kernel = "range_f32"});
  check({.op = "dynamic_quantize_linear", .inputs = {uniform({70}, 1, 2)}, .outputs = 3});
  check({.op = "dynamic_quantize_linear", .inputs = {uniform({70}, -2, -1)}, .outputs = 3});
  check({.op = "dynamic_quantize_linear",
         .inputs = {list({3}, {NAN, 0, 0})},
         .outputs = 3,
         .expect = {{.numbers = {0, 0, 0}}, {.numbers = {0}}, {.numbers = {0}}}});
}

}  // namespace
}  // namespace mica::suite
