// Shapes that depend on data, loops and branches, and how many bindings are kept.
#include <gtest/gtest.h>

#include <atomic>

#include "base/os.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::floats;
using support::ints;
using support::Machinery;
using support::run_text;
using support::RunOptions;

std::vector<float> numbers(const TensorView& view) {
  std::vector<float> list;
  for (int64_t i = 0; i < view.count(); ++i) list.push_back(static_cast<float>(Elements(view).number(i)));
  return list;
}

constexpr const char* kPick = R"(graph "pick"
  symbol N input
  input %x: f32[N] "x"
  constant %s: i64[1] = {-1}
  %i = non_zero(%x)
  %j = reshape(%i, %s)
  %g = gather(%x, %j)
  %a = neg(%g)
  %b = exp(%a)
  output %b "b"
  output %g "g"
end
)";

constexpr const char* kGrow = R"(graph "grow"
  symbol g data
  input %n: i64[] "n"
  input %x: f32[1] "x"
  constant %c: bool[] = {1}
  %y = loop(%n, %c, %x) carried=1
    region "body"
      input %i: i64[] "i"
      input %d: bool[] "d"
      input %s: f32[g] "s"
      %e = identity(%d)
      %u = neg(%s)
      %t = concat(%s, %u) axis=0
      output %e "e"
      output %t "t"
    end
  %z = relu(%y)
  output %y "y"
  output %z "z"
end
)";

constexpr const char* kChoose = R"(graph "choose"
  input %c: bool[] "c"
  input %x: f32[2,3] "x"
  %y = cond(%c, %x)
    region "then"
      input %x: f32[2,3] "x"
      %r = concat(%x, %x) axis=0
      output %r "r"
    end
    region "else"
      input %x: f32[2,3] "x"
      %r = relu(%x)
      output %r "r"
    end
  %z = neg(%y)
  output %z "z"
end
)";

TEST(Segments, NonZeroThenGather) {
  Machinery machinery(support::compiled(kPick));
  Session& session = machinery.session();
  for (const std::vector<float>& x :
       {std::vector<float>{0, 2, 0, -3}, {1, 1, 1}, {0, 0}, {}, {0, 2, 0, -3}, {5, 0, 0, 0}}) {
    OwnedTensor input = floats({static_cast<int64_t>(x.size())}, x);
    ASSERT_TRUE(session.set_input(0, input.view()).ok());
    ASSERT_TRUE(session.run().ok());
    std::vector<float> picked;
    for (float v : x)
      if (v != 0) picked.push_back(v);
    EXPECT_EQ(numbers(*session.output(1)), picked);
    EXPECT_EQ(session.output(0)->count(), static_cast<int64_t>(picked.size()));
  }
}

TEST(Segments, LoopWithAGrowingState) {
  Machinery machinery(support::compiled(kGrow));
  Session& session = machinery.session();
  for (int64_t turns : {0, 1, 3, 5, 3}) {
    OwnedTensor n = ints({}, {turns}), x = floats({1}, {1});
    ASSERT_TRUE(session.set_input(0, n.view()).ok());
    ASSERT_TRUE(session.set_input(1, x.view()).ok());
    ASSERT_TRUE(session.run().ok());
    ASSERT_EQ(session.output(0)->count(), int64_t{1} << turns);
    float sum = 0;
    for (float v : numbers(*session.output(0))) sum += v;
    EXPECT_EQ(sum, turns == 0 ? 1 : 0);
    float positive = 0;
    for (float v : numbers(*session.output(1))) positive += v;
    EXPECT_EQ(positive, static_cast<float>(turns == 0 ? 1 : int64_t{1} << (turns - 1)));
  }
}

TEST(Segments, BranchesOfDifferentShapes) {
  Machinery machinery(support::compiled(kChoose));
  Session& session = machinery.session();
  OwnedTensor x = floats({2, 3}, {1, -2, 3, -4, 5, -6});
  for (bool choice : {true, false, true}) {
    OwnedTensor c = value_or_throw(OwnedTensor::make(DType::kBool, {}));
    Elements(c.view()).set_integer(0, choice);
    ASSERT_TRUE(session.set_input(0, c.view()).ok());
    ASSERT_TRUE(session.set_input(1, x.view()).ok());
    ASSERT_TRUE(session.run().ok());
    EXPECT_EQ(session.output(0)->dim(0), choice ? 4 : 2);
    EXPECT_EQ(numbers(*session.output(0))[1], choice ? 2.0f : -0.0f);
  }
}

// Contents that are known at bind, are an output, and are read by a reference of the same segment.
TEST(Segments, KnownOutputsStandBeforeTheirReaders) {
  Machinery machinery(support::compiled(R"(graph "known"
  symbol N input
  input %x: f32[N,2] "x"
  constant %b: i64[1] = {1}
  constant %z: i64[] = {0}
  %s = shape(%x)
  %n = gather(%s, %z)
  %l = expand(%n, %b)
  %k = concat(%l, %l) axis=0
  %y = reverse_sequence(%x, %k)
  output %y "y"
  output %k "k"
end
)"));
  Session& session = machinery.session();
  for (const int64_t n : {3, 1, 3}) {
    std::vector<float> x, expected;
    for (int64_t i = 0; i < 2 * n; ++i) x.push_back(static_cast<float>(i));
    for (int64_t i = 0; i < 2 * n; ++i) expected.push_back(static_cast<float>(2 * (n - 1 - i / 2) + i % 2));
    OwnedTensor input = floats({n, 2}, x);
    ASSERT_TRUE(session.set_input(0, input.view()).ok());
    ASSERT_TRUE(session.run().ok());
    EXPECT_EQ(numbers(*session.output(0)), expected);
    EXPECT_EQ(numbers(*session.output(1)), (std::vector<float>{static_cast<float>(n), static_cast<float>(n)}));
  }
}

TEST(Segments, TheLeastRecentlyUsedBindingGoes) {
  RunOptions options;
  options.runner.cached_segments = 2;
  Machinery machinery(
      support::compiled("graph \"n\"\nsymbol N input\ninput %x: f32[N] \"x\"\n%y = exp(%x)\noutput %y \"y\"\nend\n"),
      options);
  Session& session = machinery.session();
  const auto run = [&](int64_t n) {
    OwnedTensor x = support::filled(session.input_type(0), n, 1);
    EXPECT_TRUE(session.set_input(0, x.view()).ok());
    EXPECT_TRUE(session.run().ok());
    return session.runner().binds();
  };
  EXPECT_EQ(run(1), 1u);
  EXPECT_EQ(run(2), 2u);
  EXPECT_EQ(run(1), 2u);  // kept
  EXPECT_EQ(run(3), 3u);  // 2 goes
  EXPECT_EQ(run(1), 3u);
  EXPECT_EQ(run(2), 4u);
}

TEST(Segments, CancelAndDeadline) {
  constexpr const char* kForever = R"(graph "forever"
  input %x: f32[2] "x"
  constant %n: i64[] = {9000000000000000000}
  constant %c: bool[] = {1}
  %y = loop(%n, %c, %x) carried=1
    region "body"
      input %i: i64[] "i"
      input %d: bool[] "d"
      input %s: f32[2] "s"
      %e = identity(%d)
      %t = neg(%s)
      output %e "e"
      output %t "t"
    end
  output %y "y"
end
)";
  Machinery machinery(support::compiled(kForever));
  Session& session = machinery.session();
  OwnedTensor x = floats({2}, {1, 2});
  ASSERT_TRUE(session.set_input(0, x.view()).ok());
  const int64_t begin = now_ns();
  Status late = session.run({.deadline_ns = begin + 20'000'000});
  EXPECT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Code::kDeadline);
  EXPECT_LT(now_ns() - begin, 2'000'000'000);
  EXPECT_FALSE(session.output(0).ok());
  std::atomic<bool> cancel = true;
  Status cancelled = session.run({.cancel = &cancel});
  ASSERT_FALSE(cancelled.ok());
  EXPECT_EQ(cancelled.error().code(), Code::kCancelled);
}

TEST(Segments, AllAgreeWithTheReference) {
  for (uint64_t seed : {1, 2, 3}) {
    RunOptions plain = support::plainly(), full;
    plain.seed = full.seed = seed;
    plain.size = full.size = 7;
    for (const char* text : {kPick, kChoose})
      EXPECT_EQ(difference(run_text(text, plain), run_text(text, full), 64), "") << text;
  }
}

}  // namespace
}  // namespace mica
