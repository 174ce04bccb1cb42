#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"

namespace mica::suite {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

class ReduceKinds : public testing::TestWithParam<const char*> {};

TEST_P(ReduceKinds, Axes) {
  const Attribute kind("kind", GetParam());
  const std::string name = GetParam();
  struct Shape {
    std::vector<int64_t> dims, axes;
    double n;
  };
  for (const Shape& s :
       {Shape{{3, 5, 7}, {1}, 5}, Shape{{3, 5, 7}, {-1}, 7}, Shape{{3, 5, 7}, {0, 2}, 21}, Shape{{4, 67}, {1}, 67},
        Shape{{67, 4}, {0}, 67}, Shape{{2, 3, 9, 11}, {2, 3}, 99}, Shape{{2, 37, 5, 5}, {3, 2}, 25},
        Shape{{3, 1031}, {1}, 1031}, Shape{{1, 1}, {0}, 1}, Shape{{2, 3, 4}, {1, 1}, 3}, Shape{{1000, 3}, {0}, 1000},
        Shape{{2, 6, 5, 3, 4}, {1, 2, 4}, 120}, Shape{{70, 3, 48}, {0, 2}, 3360}, Shape{{70, 3, 49}, {0, 2}, 3430},
        Shape{{5, 2, 3, 7, 2}, {0, 2, 4}, 30}})
    for (bool keep : {true, false}) {
      const double low = name == "prod" ? 0.9 : name == "log_sum" ? 0.1 : -1, high = name == "prod" ? 1.1 : 1;
      const bool sum = name != "max" && name != "min";
      check({.op = "reduce",
             .attributes = {kind, {"keep_dims", keep}},
             .inputs = {uniform(s.dims, low, high), ints(s.axes)},
             .terms = name == "prod" ? s.n
                      : sum          ? std::log2(s.n) + 8
                                     : 0,
             .scale = sum ? (name == "sum" ? s.n : 1.0) : 0,
             .expect_kernel = name == "log_sum_exp" ? "" : "reduce_f32"});
    }
}
TEST_P(ReduceKinds, SpecialValues) {
  check({.op = "reduce",
         .attributes = {{"kind", GetParam()}},
         .inputs = {list({2, 5}, {1, NAN, 2, 3, 4, 1, 2, 3, 4, 5}), ints({1})}});
  check({.op = "reduce",
         .attributes = {{"kind", GetParam()}},
         .inputs = {list({3, 2}, {kInf, 1, -kInf, -kInf, 1, kInf}), ints({1})}});
  check({.op = "reduce",
         .attributes = {{"kind", GetParam()}},
         .inputs = {list({2, 70}, {1, 2, 3, NAN, 4, 5, 6}), ints({0})}});
}
TEST_P(ReduceKinds, EmptyAndScalar) {
  check({.op = "reduce", .attributes = {{"kind", GetParam()}}, .inputs = {uniform({2, 0, 3}), ints({1})}});
  check({.op = "reduce", .attributes = {{"kind", GetParam()}}, .inputs = {uniform({0, 3}), ints({1})}});
  check({.op = "reduce",
         .attributes = {{"kind", GetParam()}},
         .inputs = {scalar(2)},
         .expect = {{.dims = std::vector<int64_t>{}}}});
}
TEST_P(ReduceKinds, Integers) {
  for (DType dtype : {DType::kI32, DType::kI64, DType::kU8, DType::kI8, DType::kU64})
    check(
        {.op = "reduce", .attributes = {{"kind", GetParam()}}, .inputs = {uniform({3, 9}, 1, 9, 2, dtype), ints({1})}});
}
// Kernels of wide integers: rows, neighbours, several loops, strides, results beyond the width.
TEST_P(ReduceKinds, WideIntegers) {
  const std::string name = GetParam();
  const bool has_kernel = name == "sum" || name == "max" || name == "min" || name == "prod";
  const std::vector<std::vector<int64_t>> shapes = {{67, 1}, {1, 67}, {5, 130, 3}, {3, 7, 65}, {2, 3, 4, 5}};
  for (DType dtype : {DType::kI32, DType::kI64})
    for (const auto& dims : shapes)
      for (const std::vector<int64_t>& axes : {std::vector<int64_t>{0}, {1}, {-1}, {0, -1}, {0, 1}})
        check({.op = "reduce",
               .attributes = {{"kind", GetParam()}},
               .inputs = {uniform(dims, -2e9, 2e9, 3, dtype), ints(axes)},
               .expect_kernel = !has_kernel            ? ""
                                : dtype == DType::kI32 ? "reduce_i32"
                                                       : "reduce_i64"});
}
INSTANTIATE_TEST_SUITE_P(Reduce, ReduceKinds,
                         testing::Values("sum", "mean", "max", "min", "prod", "l1", "l2", "log_sum", "log_sum_exp",
                                         "sum_square"),
                         [](const auto& row) { return std::string(row.param); });

TEST(Reduce, EmptyAxes) {
  check({.op = "reduce",
         .inputs = {iota({2, 3}), ints({})},
         .expect = {{.numbers = {15}, .dims = std::vector<int64_t>{1, 1}}}});
  check({.op = "reduce",
         .attributes = {{"keep_when_empty", true}},
         .inputs = {iota({2, 3}), ints({})},
         .expect = {{.numbers = {0, 1, 2, 3, 4, 5}}}});
  check({.op = "reduce",
         .attributes = {{"kind", "sum_square"}, {"keep_when_empty", true}},
         .inputs = {iota({3}), ints({})},
         .expect = {{.numbers = {0, 1, 4}}}});
  check({.op = "reduce",
         .attributes = {{"keep_dims", false}},
         .inputs = {iota({2, 3})},
         .expect = {{.numbers = {15}, .dims = std::vector<int64_t>{}}}});
}
TEST(Reduce, AxesFromTheRun) {
  check({.op = "reduce", .inputs = {iota({2, 3}), list({1}, {0}, DType::kI64)}, .expect = {{.numbers = {3, 5, 7}}}});
  check_error({.op = "reduce", .inputs = {iota({2, 3}), ints({2})}}, Code::kBadAttribute);
}
TEST(Reduce, EmptySetsHaveTheirNeutralElement) {
  check({.op = "reduce",
         .attributes = {{"kind", "max"}},
         .inputs = {uniform({0, 2}), ints({0})},
         .expect = {{.numbers = {-kInf, -kInf}}}});
  check({.op = "reduce",
         .attributes = {{"kind", "min"}},
         .inputs = {uniform({0, 2}, 0, 1, 1, DType::kI8), ints({0})},
         .expect = {{.numbers = {127, 127}}}});
  check({.op = "reduce",
         .attributes = {{"kind", "prod"}},
         .inputs = {uniform({0, 2}), ints({0})},
         .expect = {{.numbers = {1, 1}}}});
  check({.op = "reduce",
         .attributes = {{"kind", "log_sum_exp"}},
         .inputs = {uniform({0, 2}), ints({0})},
         .expect = {{.numbers = {-kInf, -kInf}}}});
}

// Rows that are searched side by side, and what is left of them; equal elements and NaN.
TEST(ArgReduce, ShortRows) {
  for (const int64_t n : {2, 5, 21, 64, 65})
    for (const bool smallest : {false, true})
      for (const bool last : {false, true}) {
        std::vector<double> numbers;
        for (int64_t i = 0; i < 37 * n; ++i) numbers.push_back(i % 29 == 0 ? NAN : static_cast<double>(i * i % 7));
        check({.op = "arg_reduce",
               .attributes = {{"axis", -1}, {"smallest", smallest}, {"last", last}},
               .inputs = {list({37, n}, numbers)},
               .expect_kernel = "arg_reduce_f32"});
      }
}

TEST(ArgReduce, TiesAndNan) {
  const Spec x = list({2, 4}, {1, 3, 3, 2, 5, 1, 1, 5});
  check({.op = "arg_reduce", .attributes = {{"axis", 1}}, .inputs = {x}, .expect = {{.numbers = {1, 0}}}});
  check({.op = "arg_reduce",
         .attributes = {{"axis", -1}, {"last", true}},
         .inputs = {x},
         .expect = {{.numbers = {2, 3}}}});
  check({.op = "arg_reduce",
         .attributes = {{"axis", 1}, {"smallest", true}, {"keep_dims", false}},
         .inputs = {x},
         .expect = {{.numbers = {0, 1}}}});
  check({.op = "arg_reduce", .inputs = {list({3}, {1, NAN, 5})}, .expect = {{.numbers = {1}}}});
  check({.op = "arg_reduce",
         .attributes = {{"smallest", true}},
         .inputs = {list({3}, {200, 100, 250}, DType::kU8)},
         .expect = {{.numbers = {1}}}});
  for (std::vector<int64_t> dims :
       std::vector<std::vector<int64_t>>{{1}, {3, 67}, {67, 3}, {2, 21, 5}, {2, 5, 40}, {2, 1031}, {3, 4, 5, 6}})
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis)
      for (bool last : {false, true})
        for (const Spec& given : {uniform(dims, 0, 9, 1), special(dims, 2)})
          check({.op = "arg_reduce",
                 .attributes = {{"axis", axis}, {"last", last}, {"smallest", axis == 1}, {"keep_dims", axis > 0}},
                 .inputs = {given},
                 .expect_kernel = "arg_reduce_f32"});
  check_error({.op = "arg_reduce", .inputs = {uniform({0, 3})}}, Code::kBadShape);
}

TEST(Cumulate, Directions) {
  const Spec x = list({2, 3}, {1, 2, 3, 4, 5, 6});
  check({.op = "cumulate", .inputs = {x, scalar(1, DType::kI64)}, .expect = {{.numbers = {1, 3, 6, 4, 9, 15}}}});
  check({.op = "cumulate",
         .attributes = {{"exclusive", true}, {"reverse", true}},
         .inputs = {x, scalar(1, DType::kI64)},
         .expect = {{.numbers = {5, 3, 0, 11, 6, 0}}}});
  check({.op = "cumulate",
         .attributes = {{"product", true}},
         .inputs = {x, constant(scalar(0, DType::kI32))},
         .expect = {{.numbers = {1, 2, 3, 4, 10, 18}}}});
  check({.op = "cumulate", .inputs = {uniform({2, 3}, 0, 9, 1, DType::kI32), scalar(-1, DType::kI64)}});
  check_error({.op = "cumulate", .inputs = {x, constant(scalar(2, DType::kI64))}}, Code::kBadAttribute);
}

TEST(Cumulate, Kernels) {
  for (DType dtype : {DType::kF32, DType::kI32, DType::kI64})
    for (bool product : {false, true})
      for (bool exclusive : {false, true})
        for (bool reverse : {false, true})
          for (int axis : {0, 1, -1})
            check({.op = "cumulate",
                   .attributes = {{"product", product}, {"exclusive", exclusive}, {"reverse", reverse}},
                   .inputs = {uniform({3, 5, 67}, -3, 4, 1, dtype), constant(scalar(axis, DType::kI64))},
                   .units = 0,
                   .expect_kernel = "cumulate"});
  for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{{1}, {9}, {1, 1}, {7, 1}, {1, 300}})
    check({.op = "cumulate",
           .inputs = {special(dims), constant(scalar(0, DType::kI32))},
           .units = 0,
           .expect_kernel = "cumulate"});
  check({.op = "cumulate", .inputs = {iota({0, 3}), constant(scalar(1, DType::kI64))}});
}

class SoftmaxKinds : public testing::TestWithParam<const char*> {};
TEST_P(SoftmaxKinds, Axes) {
  for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{
           {}, {1}, {5}, {3, 67}, {2, 21, 5}, {2, 3, 4, 50}, {0, 3}, {2, 1031}, {37, 2}, {3, 41, 8}, {65, 1}})
    for (int axis = 0; axis < std::max<int>(1, static_cast<int>(dims.size())); ++axis)
      for (bool to_end : {false, true})
        check({.op = GetParam(),
               .attributes = {{"axis", axis}, {"to_end", to_end}},
               .inputs = {uniform(dims, -9, 9)},
               .units = 12,
               // A logarithm near 0 has the absolute error of the sum, which is at least 1.
               .scale = GetParam() == std::string("log_softmax") ? 1.0 : 0,
               .expect_kernel = to_end || GetParam() == std::string("hardmax") ? "" : GetParam()});
}
TEST_P(SoftmaxKinds, SpecialValues) {
  check({.op = GetParam(),
         .inputs = {list({4, 3}, {1, NAN, 2, kInf, 1, 2, -kInf, -kInf, 1, -kInf, -kInf, -kInf})},
         .units = 12,
         .scale = 1});
  check({.op = GetParam(), .inputs = {list({2, 17}, {1e30, -1e30, 0, 88, -200})}, .units = 12, .scale = 1});
}
INSTANTIATE_TEST_SUITE_P(Reduce, SoftmaxKinds, testing::Values("softmax", "log_softmax", "hardmax"),
                         [](const auto& row) { return std::string(row.param); });
TEST(Softmax, ZerosWhereNothingIsKnown) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{4, 3}, {1, 4, 3}})
    check({.op = "softmax",
           .attributes = {{"zero_nan", true}},
           .inputs = {list(dims, {1, NAN, 2, kInf, 1, 2, -kInf, 0, 0, -kInf, -kInf, -kInf})},
           .expect = {{.numbers = {0, 0, 0, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0}}}});
  for (int axis : {0, 1})
    for (int64_t n : {2, 9, 40})
      check({.op = "softmax",
             .attributes = {{"axis", axis}, {"zero_nan", true}},
             .inputs = {special({n, 37})},
             .units = 12,
             .scale = 1,
             .expect_kernel = "softmax"});
}
// Fewer lanes than a vector has, of several rows side by side, and more steps than these have room for.
TEST(Softmax, FewLanes) {
  for (const char* op : {"softmax", "log_softmax"})
    for (const int64_t lanes : {2, 3, 4, 7})
      for (const int64_t n : {9, 40, 512, 513}) {
        Problem p{.op = op, .attributes = {{"axis", 1}}, .inputs = {uniform({11, n, lanes}, -9, 9)}};
        if (std::string_view(op) == "softmax")
          p.inputs = {special({11, n, lanes})}, p.attributes.emplace_back("zero_nan", true);
        p.units = 12;
        p.scale = 1;
        p.expect_kernel = op;
        check(p);
      }
}
TEST(Softmax, Values) {
  check({.op = "softmax", .inputs = {list({1, 2}, {0, std::log(3)})}, .expect = {{.numbers = {0.25, 0.75}}}});
  check({.op = "hardmax", .inputs = {list({1, 4}, {1, 3, 3, 2})}, .expect = {{.numbers = {0, 1, 0, 0}}}});
}

}  // namespace
}  // namespace mica::suite
