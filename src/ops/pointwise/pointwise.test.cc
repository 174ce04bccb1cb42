#include <gtest/gtest.h>

#include <cmath>

#include "problem.h"
#include "types/pointwise.h"

namespace mica::suite {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct UnaryCase {
  const char* op;
  std::vector<Attribute> attributes;
  double low = -10, high = 10;
  double units = 4;
  // Of special values: the summands' size where they cancel (a tail of gelu is x (1 - 1)).
  double scale = 0;
};
void PrintTo(const UnaryCase& row, std::ostream* out) { *out << row.op; }
const UnaryCase kUnary[] = {{"neg"},
                            {"abs"},
                            {"sign"},
                            {"square"},
                            {"reciprocal"},
                            {"sqrt", {}, 0, 100},
                            {"rsqrt", {}, 0, 100},
                            {"exp", {}, -90, 90},
                            {"log", {}, 0, 100},
                            {"erf", {}, -5, 5},
                            {"sigmoid"},
                            {"tanh"},
                            {"relu"},
                            {"leaky_relu", {{"alpha", 0.1}}},
                            {"elu", {{"alpha", 1.5}}},
                            {"selu", {{"alpha", 1.6732632}, {"beta", 1.050701}}},
                            {"celu", {{"alpha", 2.0}}},
                            {"hard_sigmoid", {{"alpha", 0.2}, {"beta", 0.5}}, -10, 10, 4, 1},
                            {"hard_swish"},
                            {"softplus"},
                            {"softsign"},
                            {"gelu", {}, -5, 5, 4, 10},
                            {"gelu_tanh", {}, -5, 5, 4, 10},
                            {"silu", {{"alpha", 1.0}}},
                            {"mish"},
                            {"thresholded_relu", {{"alpha", 1.0}}},
                            {"shrink", {{"alpha", 0.5}, {"beta", 0.25}}},
                            {"clip", {{"alpha", -1.0}, {"beta", 6.0}}},
                            {"floor"},
                            {"ceil"},
                            {"round"},
                            {"sin"},
                            {"cos"},
                            {"tan"},
                            {"asin", {}, -1, 1},
                            {"acos", {}, -1, 1},
                            {"atan"},
                            {"sinh"},
                            {"cosh"},
                            {"asinh"},
                            {"acosh", {}, 1, 50},
                            {"atanh", {}, -1, 1},
                            {"affine", {{"alpha", 2.5}, {"beta", -1.0}}, -10, 10, 4, 1}};

class Unary : public testing::TestWithParam<UnaryCase> {};
TEST_P(Unary, Shapes) {
  const UnaryCase& c = GetParam();
  for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{{}, {0, 3}, {1}, {37}, {2, 5, 3, 7}, {3, 1031}})
    check({.op = c.op,
           .attributes = c.attributes,
           .inputs = {uniform(dims, c.low, c.high)},
           .units = c.units,
           .scale = 1});
  check({.op = c.op, .attributes = c.attributes, .inputs = {uniform({4, 9}, c.low, c.high, 3, DType::kF16)}});
}
TEST_P(Unary, SpecialValues) {
  const UnaryCase& c = GetParam();
  check({.op = c.op, .attributes = c.attributes, .inputs = {special({67})}, .units = c.units, .scale = c.scale});
}
INSTANTIATE_TEST_SUITE_P(Pointwise, Unary, testing::ValuesIn(kUnary),
                         [](const auto& row) { return std::string(row.param.op); });

TEST(Celu, NegativeAlpha) {
  for (const Spec& x : {uniform({5, 37}, -5, 5), special({67})})
    check({.op = "celu", .attributes = {{"alpha", -2.0}}, .inputs = {x}, .scale = 1});
}

class Binary : public testing::TestWithParam<const char*> {};
TEST_P(Binary, Broadcasts) {
  const std::string op = GetParam();
  const double low = op == "pow" ? 0.1 : -5;
  struct Pair {
    std::vector<int64_t> x, y;
  };
  for (const Pair& p : {Pair{{5, 7}, {5, 7}}, Pair{{2, 3, 4, 5}, {}}, Pair{{2, 3, 4, 5}, {5}},
                        Pair{{2, 3, 4, 5}, {3, 1, 1}}, Pair{{4, 1, 5}, {3, 1}}, Pair{{1}, {0}}, Pair{{2, 600}, {2, 1}},
                        Pair{{3, 4, 33}, {1, 4, 1}}, Pair{{700, 24}, {24}}, Pair{{2, 9, 257}, {257}}}) {
    if (op == "prelu" && p.x.size() < 2) continue;
    if (op == "prelu" && p.x[1] == 1) continue;
    check({.op = op,
           .inputs = {uniform(p.x, low, 5), uniform(p.y, -3, 3, 2)},
           .scale = op.ends_with("mod") ? 5.0 : 0,
           .expect_kernel = op == "pow" ? "" : op + "_f32"});
  }
}
TEST_P(Binary, SpecialValues) { check({.op = GetParam(), .inputs = {special({97}, 1), special({97}, 2)}}); }
TEST_P(Binary, Integers) {
  for (DType dtype : {DType::kI32, DType::kI64, DType::kU8, DType::kI8, DType::kU32, DType::kI4})
    check({.op = GetParam(), .inputs = {special({3, 35}, 5, dtype), special({1, 35}, 6, dtype)}});
}
INSTANTIATE_TEST_SUITE_P(Pointwise, Binary,
                         testing::Values("add", "sub", "mul", "div", "min", "max", "pow", "mod", "fmod", "prelu"),
                         [](const auto& row) { return std::string(row.param); });

TEST(PointwiseChain, SeveralFunctions) {
  const auto code = [](Pointwise f) { return static_cast<int64_t>(f); };
  const std::vector<Attribute> attributes = {
      {"functions", std::vector<int64_t>{code(Pointwise::kMul), code(Pointwise::kAdd), code(Pointwise::kSigmoid),
                                         code(Pointwise::kSub)}},
      {"operands", std::vector<int64_t>{1, 2, -1, 3}},
      {"swapped", std::vector<int64_t>{0, 0, 0, 1}},
      {"a", std::vector<double>{0, 0, 0, 0}},
      {"b", std::vector<double>{0, 0, 0, 0}}};
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBf16})
    for (std::vector<int64_t> dims :
         std::vector<std::vector<int64_t>>{{2, 3, 5, 7}, {1, 40, 33, 3}, {1, 1, 1, 1}, {0, 3, 1, 1}})
      check({.op = "pointwise_chain",
             .attributes = attributes,
             .inputs = {uniform(dims, -3, 3, 1, dtype), uniform({dims[1], 1, 1}, -1, 1, 2, dtype),
                        uniform(dims, -1, 1, 3, dtype), uniform({}, 1, 2, 4, dtype)},
             .scale = 2,
             .expect_kernel = "pointwise_chain"});
  for (DType dtype : {DType::kU8, DType::kI8})
    for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{{2, 3, 5, 7}, {1, 40, 33, 3}, {1, 1, 1, 1}})
      check({.op = "pointwise_chain",
             .attributes = attributes,
             .inputs = {uniform(dims, dtype == DType::kU8 ? 0 : -128, 127, 1, dtype),
                        uniform({dims[1], 1, 1}, -1, 1, 2), uniform(dims, -1, 1, 3), uniform({}, 1, 2, 4)},
             .scale = 128,
             .expect_kernel = "pointwise_chain"});
  check_error({.op = "pointwise_chain",
               .attributes = {{"functions", std::vector<int64_t>{code(Pointwise::kAdd)}}},
               .inputs = {uniform({3})}},
              Code::kBadAttribute);
}

TEST(Pow, MixedTypes) {
  check({.op = "pow",
         .inputs = {list({3}, {1, 2, 3}), list({3}, {4, 5, 6}, DType::kI64)},
         .expect = {{.numbers = {1, 32, 729}}}});
  check({.op = "pow",
         .inputs = {list({3}, {1, 2, 3}, DType::kI32), list({3}, {4, 0.5, -1})},
         .expect = {{.numbers = {1, 1, 0}}}});
}

class Relation : public testing::TestWithParam<const char*> {};
TEST_P(Relation, Types) {
  for (DType dtype : {DType::kF32, DType::kI32, DType::kI64, DType::kU64, DType::kU8, DType::kF16, DType::kI4})
    check({.op = GetParam(), .inputs = {special({2, 3, 17}, 1, dtype), special({3, 1}, 2, dtype)}});
}
INSTANTIATE_TEST_SUITE_P(Pointwise, Relation,
                         testing::Values("equal", "greater", "less", "greater_or_equal", "less_or_equal"),
                         [](const auto& row) { return std::string(row.param); });
TEST(Typed, KernelsRunEverywhere) {
  for (DType dtype : {DType::kI32, DType::kI64, DType::kU8, DType::kI8}) {
    const std::string type(name_of(dtype));
    for (const std::string op : {"add", "sub", "mul", "min", "max", "bit_and", "bit_or", "bit_xor", "equal", "less"})
      check({.op = op,
             .inputs = {special({3, 4, 70}, 1, dtype), special({4, 1}, 2, dtype)},
             .expect_kernel = op + "_" + type});
    check({.op = "where",
           .inputs = {uniform({4, 70}, 0, 1, 3, DType::kBool), special({3, 4, 70}, 1, dtype), special({}, 2, dtype)},
           .expect_kernel = "where_" + type});
    check({.op = "cast",
           .attributes = {{"to", DType::kF32}},
           .inputs = {special({3, 70}, 1, dtype)},
           .expect_kernel = "cast_" + type});
    check({.op = "cast", .attributes = {{"to", dtype}}, .inputs = {special({3, 70}, 1)}, .expect_kernel = "cast_f32"});
    check({.op = "cast", .attributes = {{"to", dtype}}, .inputs = {uniform({3, 200}, -3e9, 3e9, 5)}});
    check({.op = "cast", .attributes = {{"to", dtype}}, .inputs = {uniform({3, 200}, -600, 600, 6)}});
    check({.op = "cast",
           .attributes = {{"to", DType::kBool}},
           .inputs = {special({3, 70}, 1, dtype)},
           .expect_kernel = "cast_" + type});
  }
  for (const DType dtype : {DType::kF16, DType::kBf16, DType::kF64}) {
    const std::string type(name_of(dtype));
    for (const int64_t n : {1, 7, 70}) {
      check({.op = "cast",
             .attributes = {{"to", DType::kF32}},
             .inputs = {special({3, n}, 1, dtype)},
             .expect_kernel = "cast_" + type});
      check({.op = "cast", .attributes = {{"to", dtype}}, .inputs = {special({3, n}, 1)}, .expect_kernel = "cast_f32"});
      check({.op = "cast", .attributes = {{"to", dtype}}, .inputs = {uniform({3, n}, -9e4, 9e4, 4)}});
    }
  }
  for (DType dtype : {DType::kI32, DType::kI64})
    for (const std::string op : {"div", "mod", "fmod"})
      check({.op = op,
             .inputs = {special({3, 4, 70}, 1, dtype), special({4, 70}, 2, dtype)},
             .expect_kernel = op + "_" + std::string(name_of(dtype))});
  for (const std::string op : {"add", "sub", "mul", "div"}) {
    const Spec full = special({3, 4, 70}, 1, DType::kF64), column = special({4, 1}, 2, DType::kF64);
    check({.op = op, .inputs = {full, column}, .expect_kernel = op + "_f64"});
    check({.op = op, .inputs = {column, full}, .expect_kernel = op + "_f64"});
    check({.op = op,  // rows of two: a longer loop takes their place
           .inputs = {special({37, 3, 4, 2}, 3, DType::kF64), special({37, 1, 1, 2}, 4, DType::kF64)},
           .expect_kernel = op + "_f64"});
  }
  for (const DType dtype : {DType::kI32, DType::kI64}) {
    const std::string type(name_of(dtype));
    check({.op = "cast",
           .attributes = {{"to", dtype}},
           .inputs = {special({3, 70}, 1, DType::kF64)},
           .expect_kernel = "cast_f64"});
    check({.op = "cast",
           .attributes = {{"to", DType::kF64}},
           .inputs = {special({3, 70}, 1, dtype)},
           .expect_kernel = "cast_" + type});
  }
  for (const std::string op : {"equal", "less", "greater", "less_or_equal", "greater_or_equal"})
    check({.op = op, .inputs = {special({40000}, 1), special({1}, 2)}, .expect_kernel = op + "_f32"});
}
TEST(Equal, StringsAndNan) {
  check({.op = "equal", .inputs = {texts({3}, {"a", "", "b"}), texts({1}, {"b"})}, .expect = {{.numbers = {0, 0, 1}}}});
  check({.op = "equal", .inputs = {list({2}, {NAN, kInf}), list({2}, {NAN, kInf})}, .expect = {{.numbers = {0, 1}}}});
  check_error({.op = "less", .inputs = {texts({1}, {"a"}), texts({1}, {"b"})}}, Code::kBadType);
  check_error({.op = "less", .inputs = {uniform({2, 3}), uniform({4})}}, Code::kBadShape);
}

TEST(Bits, IntegersAndBooleans) {
  for (const char* op : {"bit_and", "bit_or", "bit_xor"})
    for (DType dtype : {DType::kI32, DType::kU8, DType::kBool, DType::kU4})
      check({.op = op, .inputs = {special({3, 19}, 1, dtype), special({19}, 2, dtype)}});
  check({.op = "bit_not", .inputs = {list({2}, {1, 0}, DType::kBool)}, .expect = {{.numbers = {0, 1}}}});
  check({.op = "bit_not", .inputs = {list({2}, {1, 0}, DType::kI8)}, .expect = {{.numbers = {-2, -1}}}});
}
TEST(BitShift, SignAndFarDistances) {
  const Spec x = list({5}, {-8, 8, -1, 127, 1}, DType::kI8), y = list({5}, {1, 1, 100, -1, 7}, DType::kI8);
  check({.op = "bit_shift",
         .attributes = {{"left", false}},
         .inputs = {x, y},
         .expect = {{.numbers = {-4, 4, -1, 0, 0}}}});
  check({.op = "bit_shift",
         .attributes = {{"left", true}},
         .inputs = {x, y},
         .expect = {{.numbers = {-16, 16, 0, 0, -128}}}});
}

TEST(IsNan, IsInf) {
  const Spec x = list({5}, {NAN, kInf, -kInf, 0, 1e38});
  check({.op = "is_nan", .inputs = {x}, .expect = {{.numbers = {1, 0, 0, 0, 0}}}});
  check({.op = "is_inf", .inputs = {x}, .expect = {{.numbers = {0, 1, 1, 0, 0}}}});
  check({.op = "is_inf", .attributes = {{"negative", false}}, .inputs = {x}, .expect = {{.numbers = {0, 1, 0, 0, 0}}}});
}

TEST(Where, AnyType) {
  const Spec condition = uniform({4, 1, 9}, 0, 1, 3, DType::kBool);
  for (DType dtype : {DType::kF32, DType::kI64, DType::kU8, DType::kI32, DType::kBool, DType::kF64, DType::kU4})
    check({.op = "where", .inputs = {condition, special({3, 9}, 1, dtype), special({3, 1}, 2, dtype)}});
  check({.op = "where",
         .inputs = {list({2}, {1, 0}, DType::kBool), texts({}, {"x"}), texts({2}, {"y", "z"})},
         .expect = {{.texts = {"x", "z"}}}});
  // Halves are kept, in elements of half a byte too.
  const Spec halves = list({3}, {1.5, -0.5, 6}, DType::kF4E2m1);
  check({.op = "where",
         .inputs = {list({3}, {1, 1, 0}, DType::kBool), halves, halves},
         .expect = {{.numbers = {1.5, -0.5, 6}}}});
  check({.op = "cast",
         .attributes = {{"to", DType::kF4E2m1}},
         .inputs = {halves},
         .expect = {{.numbers = {1.5, -0.5, 6}}}});
}

TEST(Cast, EveryPair) {
  const DType types[] = {DType::kF32,        DType::kF64,   DType::kF16,      DType::kBf16,       DType::kI8,
                         DType::kI16,        DType::kI32,   DType::kI64,      DType::kU8,         DType::kU16,
                         DType::kU32,        DType::kU64,   DType::kBool,     DType::kI4,         DType::kU4,
                         DType::kI2,         DType::kU2,    DType::kF8E4m3fn, DType::kF8E4m3fnuz, DType::kF8E5m2,
                         DType::kF8E5m2fnuz, DType::kF4E2m1};
  for (DType from : types)
    for (DType to : types)
      check({.op = "cast", .attributes = {{"to", to}}, .inputs = {uniform({3, 21}, 0, 2, 1, from)}});
}
TEST(Cast, Saturation) {
  const Spec x = list({4}, {500, -500, kInf, NAN});
  check({.op = "cast",
         .attributes = {{"to", DType::kF8E4m3fn}},
         .inputs = {x},
         .expect = {{.numbers = {448, -448, 448, NAN}}}});
  check({.op = "cast",
         .attributes = {{"to", DType::kF8E4m3fn}, {"saturate", false}},
         .inputs = {x},
         .expect = {{.numbers = {NAN, NAN, NAN, NAN}}}});
  check({.op = "cast",
         .attributes = {{"to", DType::kI8}},
         .inputs = {list({2}, {200, -129}, DType::kI32)},
         .expect = {{.numbers = {-56, 127}}}});
  check({.op = "cast",
         .attributes = {{"to", DType::kBool}},
         .inputs = {list({4}, {0, -0.0, 0.1, NAN})},
         .expect = {{.numbers = {0, 0, 1, 1}}}});
}
TEST(Cast, SixteenBitsOnTheKernels) {
  for (const DType narrow : {DType::kI16, DType::kU16}) {
    check({.op = "cast",
           .attributes = {{"to", DType::kF32}},
           .inputs = {special({3, 67}, 1, narrow)},
           .expect_kernel = "cast_"});
    check({.op = "cast", .attributes = {{"to", narrow}}, .inputs = {special({3, 67})}, .expect_kernel = "cast_"});
    check(
        {.op = "cast", .attributes = {{"to", narrow}}, .inputs = {list({5}, {40000.5, -40000.5, 70000, 1e12, -1e19})}});
  }
  for (const DType wide : {DType::kI32, DType::kI64}) {
    check({.op = "cast",
           .attributes = {{"to", wide}},
           .inputs = {special({67}, 1, DType::kI16)},
           .expect_kernel = "cast_"});
    check({.op = "cast",
           .attributes = {{"to", DType::kI16}},
           .inputs = {special({67}, 1, wide)},
           .expect_kernel = "cast_"});
  }
}
TEST(Cast, FloatsBeyondTheType) {
  check({.op = "cast",
         .attributes = {{"to", DType::kI4}},
         .inputs = {list({4}, {-9, 8, 7.9, NAN})},
         .expect = {{.numbers = {7, -8, 7, 0}}}});
  check({.op = "cast",
         .attributes = {{"to", DType::kU8}},
         .inputs = {list({2}, {-1, 256.5})},
         .expect = {{.numbers = {255, 0}}}});
  check({.op = "cast",
         .attributes = {{"to", DType::kI32}},
         .inputs = {list({2}, {1e10, -1e10})},
         .expect = {{.numbers = {2147483647.0, -2147483648.0}}}});
}
TEST(Cast, Strings) {
  check({.op = "cast",
         .attributes = {{"to", DType::kF32}},
         .inputs = {texts({7}, {"3.5", "1e-5", "1E8", "+INF", "-inf", "NaN", "+2"})},
         .expect = {{.numbers = {3.5, 1e-5, 1e8, kInf, -kInf, NAN, 2}}}});
  check({.op = "cast",
         .attributes = {{"to", DType::kI64}},
         .inputs = {texts({1}, {"9007199254740993"})},
         .expect = {{.dtype = DType::kI64}}});
  check({.op = "cast",
         .attributes = {{"to", DType::kString}},
         .inputs = {list({4}, {314.15926, -1, kInf, NAN})},
         .expect = {{.texts = {"314.15927", "-1", "INF", "NaN"}}}});
  check_error({.op = "cast", .attributes = {{"to", DType::kF32}}, .inputs = {texts({1}, {"five"})}}, Code::kBadValue);
}

TEST(BitCast, SameWidth) {
  check({.op = "bit_cast",
         .attributes = {{"to", DType::kI32}},
         .inputs = {list({2}, {1.0, -0.0})},
         .expect = {{.numbers = {0x3f800000, -2147483648.0}}}});
  check_error({.op = "bit_cast", .attributes = {{"to", DType::kI64}}, .inputs = {uniform({2})}}, Code::kBadType);
}

TEST(Identity, AnyValue) {
  check({.op = "identity", .inputs = {special({2, 3, 4})}});
  check({.op = "identity", .inputs = {texts({2}, {"a", "b"})}, .expect = {{.texts = {"a", "b"}}}});
  const Outcome outcome = run_reference({.op = "identity", .inputs = {sequence({iota({2}), iota({3})})}});
  ASSERT_TRUE(outcome.status.ok());
  ASSERT_EQ(outcome.outputs[0].object.tensors.size(), 2u);
  EXPECT_EQ(outcome.outputs[0].object.tensors[1].view().dim(0), 3);
}

}  // namespace
}  // namespace mica::suite
