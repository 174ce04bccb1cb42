#include "types/dim.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "types/type.h"

namespace mica {
namespace {

std::string text_of(const DimTable& t, Dim d) {
  String out;
  EXPECT_TRUE(t.print(d, out).ok());
  return std::string(out.view());
}

// Prints, parses and expects the same Dim.
void expect_round_trip(DimTable& t, Dim d) {
  const std::string text = text_of(t, d);
  const auto back = t.parse(text);
  ASSERT_TRUE(back.ok()) << text << ": " << back.error().what();
  EXPECT_EQ(*back, d) << text << " came back as " << text_of(t, *back);
}

TEST(Dim, EqualExpressionsAreEqual) {
  DimTable t;
  const Dim n = t.symbol("N"), h = t.symbol("H");
  EXPECT_EQ(t.symbol("N"), n);
  EXPECT_NE(n, h);
  EXPECT_EQ(t.floor_div(t.mul(t.mul(n, 49), 64), 64), t.mul(n, 49));
  EXPECT_EQ(t.add(n, h), t.add(h, n));
  EXPECT_EQ(t.mul(t.add(n, 1), t.add(h, 2)), t.add(t.add(t.mul(n, h), t.mul(n, 2)), t.add(h, 2)));
  EXPECT_EQ(t.sub(t.add(n, h), h), n);
  EXPECT_EQ(t.sub(n, n), Dim(0));
  EXPECT_EQ(t.floor_div(t.mul(n, h), h), n);
  EXPECT_EQ(t.floor_div(t.add(t.mul(n, 4), 7), 4), t.add(n, 1));
  EXPECT_EQ(t.mod(t.mul(n, 8), 4), Dim(0));
  EXPECT_EQ(t.floor_div(t.floor_div(h, 2), 3), t.floor_div(h, 6));
  EXPECT_EQ(t.max(n, n), n);
  EXPECT_EQ(t.max(n, h), t.max(h, n));
  EXPECT_EQ(t.max(t.add(n, 3), n), t.add(n, 3));
  EXPECT_EQ(t.min(t.add(n, 3), n), n);
  EXPECT_EQ(t.max(n, -5), n);
  EXPECT_EQ(t.max(n, t.min(n, 64)), n);
  EXPECT_EQ(t.min(n, t.max(h, n)), n);
  EXPECT_EQ(t.max(t.max(h, n), t.min(n, 64)), t.max(h, n));
  EXPECT_EQ(t.min(INT64_MAX, t.sub(n, 5)), t.sub(n, 5));
  const Dim dims[] = {2, n, 3};
  EXPECT_EQ(t.product(dims), t.mul(n, 6));
  EXPECT_TRUE(t.status().ok());
}

TEST(Dim, FixedNumbersRoundAsDocumented) {
  DimTable t;
  EXPECT_EQ(t.floor_div(-7, 2), Dim(-4));
  EXPECT_EQ(t.ceil_div(7, 2), Dim(4));
  EXPECT_EQ(t.ceil_div(-7, 2), Dim(-3));
  EXPECT_EQ(t.mod(-7, 3), Dim(2));
  EXPECT_EQ(t.floor_div(INT64_MAX, -1), Dim(-INT64_MAX));  // the lowest fixed dimension is a little above
  EXPECT_EQ(t.floor_div(Dim(INT64_MIN), -1), Dim(INT64_MAX - (int64_t{1} << 32) + 1));
}

TEST(Dim, FailuresAreKeptAndCanBeTaken) {
  DimTable t;
  EXPECT_EQ(t.mul(INT64_MAX, 2), Dim(0));
  EXPECT_EQ(t.status().error().code(), Code::kBadShape);
  EXPECT_FALSE(t.take_status().ok());
  EXPECT_TRUE(t.status().ok());
  const Dim n = t.symbol("N");
  t.mul(t.mul(n, INT64_MAX / 2), 3);
  EXPECT_FALSE(t.take_status().ok());
  t.add(-INT64_MAX, -1);
  EXPECT_FALSE(t.take_status().ok());
  t.floor_div(n, 0);
  EXPECT_FALSE(t.take_status().ok());
}

// Evaluates expressions against plain arithmetic over a grid of symbol values.
TEST(Dim, EvaluationIntervalAndSubstitutionAgree) {
  DimTable t;
  const Dim a = t.symbol("a"), b = t.symbol("b");
  t.symbol_info(0).bound = 9;
  t.symbol_info(1).bound = 7;
  const Dim parts[] = {a, b, t.add(a, -3), t.mul(a, b), t.sub(b, a), 5, -2};
  std::vector<std::pair<Dim, int64_t (*)(int64_t, int64_t)>> ops;
  const auto floor_of = [](int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); };
  for (Dim x : parts)
    for (Dim y : parts) {
      const Dim all[] = {t.add(x, y),       t.mul(x, y),      t.max(x, y), t.min(x, y),
                         t.floor_div(x, 3), t.ceil_div(x, 4), t.mod(x, 5)};
      for (Dim d : all) expect_round_trip(t, d);
      for (int64_t i = 0; i <= 9; ++i)
        for (int64_t j = 0; j <= 7; ++j) {
          const int64_t values[] = {i, j};
          const Dim fixed[] = {i, j};
          const int64_t u = t.evaluate(x, values), v = t.evaluate(y, values);
          const int64_t expected[] = {
              u + v, u * v, std::max(u, v), std::min(u, v), floor_of(u, 3), -floor_of(-u, 4), u - floor_of(u, 5) * 5};
          for (size_t k = 0; k < std::size(all); ++k) {
            ASSERT_EQ(t.evaluate(all[k], values), expected[k]) << text_of(t, all[k]);
            ASSERT_EQ(t.substitute(all[k], fixed), Dim(expected[k])) << text_of(t, all[k]);
            ASSERT_LE(t.interval(all[k]).low, expected[k]) << text_of(t, all[k]);
            ASSERT_GE(t.interval(all[k]).high, expected[k]) << text_of(t, all[k]);
          }
        }
    }
  EXPECT_TRUE(t.status().ok());
  const int64_t half[] = {4};
  EXPECT_EQ(t.evaluate(t.add(a, b), half), DimTable::kUnknown);
}

TEST(Dim, Solves) {
  DimTable t;
  const Dim a = t.symbol("a"), b = t.symbol("b");
  const auto solve = [&](Dim d, int64_t value, int64_t known_b) -> int64_t {
    int64_t values[] = {-1, known_b};
    return t.solve(d, value, values) ? values[0] : -2;
  };
  EXPECT_EQ(solve(a, 7, -1), 7);
  EXPECT_EQ(solve(a, -7, -1), -2);
  EXPECT_EQ(solve(t.add(t.mul(a, 3), 1), 7, -1), 2);
  EXPECT_EQ(solve(t.add(t.mul(a, 3), 1), 8, -1), -2);
  EXPECT_EQ(solve(t.sub(10, a), 7, -1), 3);
  EXPECT_EQ(solve(t.sub(10, a), 11, -1), -2);
  EXPECT_EQ(solve(t.add(a, b), 7, 5), 2);
  EXPECT_EQ(solve(t.mul(a, b), 10, 5), 2);
  EXPECT_EQ(solve(t.mul(a, b), 11, 5), -2);
  EXPECT_EQ(solve(t.add(a, b), 7, -1), -1);        // two unknowns: nothing set
  EXPECT_EQ(solve(t.floor_div(a, 2), 3, -1), -1);  // not linear: nothing set
  EXPECT_EQ(solve(b, 5, 6), -2);
}

TEST(Dim, OddNamesRoundTrip) {
  DimTable t;
  for (std::string_view name :
       {"N", "batch size", "a`b", "``", "3d", "max", "floor_div", "x,y", "]", "(", "past-len + 1", "größe", "."})
    expect_round_trip(t, t.symbol(name));
  std::string long_a(71, 'a'), long_b = long_a;
  long_b.back() = 'b';
  EXPECT_NE(t.symbol(long_a), t.symbol(long_b));
  EXPECT_EQ(t.symbol(long_a), t.symbol(long_a));
  expect_round_trip(t, t.symbol(long_a));
  EXPECT_EQ(text_of(t, t.symbol("")), "_");
  EXPECT_NE(t.fresh("nonzero"), t.fresh("nonzero"));
}

TEST(Dim, LongExpressionsStayWholeAndRoundTrip) {
  DimTable t;
  Dim sum = 0, product = 1;
  std::vector<int64_t> ones;
  for (int i = 0; i < 40; ++i) {
    const Dim s = t.symbol(std::string("s").append(std::to_string(i)));
    sum = t.add(sum, s);
    if (i < 20) product = t.mul(product, s);
    ones.push_back(1);
  }
  ASSERT_TRUE(t.status().ok());
  EXPECT_EQ(t.evaluate(sum, ones), 40);
  ones[3] = 5, ones[12] = 7;
  EXPECT_EQ(t.evaluate(product, ones), 35);
  expect_round_trip(t, sum);
  expect_round_trip(t, product);
  const auto back = t.parse(text_of(t, t.mul(t.add(sum, 1), 3)));  // equal in value, not always in form
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(t.evaluate(*back, ones), 3 * (40 + 4 + 6 + 1));
}

TEST(Dim, TextDoesNotDependOnTheTable) {
  DimTable a, b;
  const Dim z = a.symbol("z"), n = a.symbol("n");
  const Dim d = a.max(a.add(a.sub(a.mul(z, n), n), a.floor_div(a.add(z, 1), 2)), z);
  const auto other = b.parse(text_of(a, d));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(text_of(b, *other), text_of(a, d));
  EXPECT_EQ(text_of(a, d), "max(floor_div(z + 1, 2) - n + n*z, z)");
}

TEST(Dim, BadTextIsRefused) {
  DimTable t;
  for (std::string_view text :
       {"", "+", "1 2", "N*", "(N", "max(N)", "floor_div(N, 2", "99999999999999999999", "`N", "N)", "a-", "#"})
    EXPECT_FALSE(t.parse(text).ok()) << text;
  EXPECT_FALSE(t.parse(std::string(5000, '(')).ok());
  EXPECT_FALSE(t.parse("floor_div(N, 0)").ok());
}

TEST(Type, TextRoundTrips) {
  DimTable t;
  for (std::string_view text :
       {"f32[N,3,224,224]", "f32[]", "i4[?]", "seq(f32[?])", "opt(seq(i64[2,N]))", "opt(f16[1])", "map(i64,f32)",
        "seq(map(string,f32))", "seq(seq(f32[?]))", "none[?]", "f8e4m3fn[max(H, N),`a,b]`,2*N]"}) {
    const auto type = parse_type(text, t);
    ASSERT_TRUE(type.ok()) << text << ": " << type.error().what();
    String out;
    ASSERT_TRUE(print(*type, t, out).ok());
    EXPECT_EQ(out.view(), text);
  }
  for (std::string_view text : {"", "f32", "f33[1]", "f32[1,]", "f32[1", "seq(f32)", "seq(seq(seq(f32[1])))",
                                "map(i64)", "f32[1,1,1,1,1,1,1,1,1,1,1]"})
    EXPECT_FALSE(parse_type(text, t).ok()) << text;
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "seq(";
  EXPECT_FALSE(parse_type(deep + "f32[1]" + std::string(100000, ')'), t).ok());
}

TEST(Type, CountsElements) {
  EXPECT_EQ(*element_count(Shape::of_rank(0)), 1);
  EXPECT_EQ(*element_count(Shape{2, 0, 3}), 0);
  EXPECT_FALSE(element_count(Shape{-1}).ok());
  EXPECT_FALSE(element_count(Shape{int64_t{1} << 40, int64_t{1} << 40}).ok());
  DimTable t;
  EXPECT_FALSE(element_count(Shape{t.symbol("N")}).ok());
}

}  // namespace
}  // namespace mica
