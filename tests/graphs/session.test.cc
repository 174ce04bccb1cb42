// The door of a session: what it takes, what it refuses, what it carries from run to run.
#include <gtest/gtest.h>

#include <cstring>

#include "base/os.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::compiled;
using support::floats;
using support::Machinery;
using support::RunOptions;

Code code_of(const Status& status) { return status.ok() ? Code::kOk : status.error().code(); }

constexpr const char* kPair = R"(graph "pair"
  symbol N input
  input %a: f32[N,2] "a"
  input %b: f32[2,N] "b"
  %c = transpose(%b) perm=[1,0]
  %y = add(%a, %c)
  output %y "y"
end
)";

TEST(Session, ErrorsAtTheDoor) {
  Machinery machinery(compiled(kPair));
  Session& session = machinery.session();
  const OwnedTensor whole = support::ints({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(code_of(session.set_input(0, whole.view())), Code::kBadType);
  EXPECT_EQ(code_of(session.set_input(0, floats({6}, {1, 2, 3, 4, 5, 6}).view())), Code::kBadRank);
  EXPECT_EQ(code_of(session.set_input(0, floats({2, 3}, {1, 2, 3, 4, 5, 6}).view())), Code::kBadShape);
  EXPECT_EQ(code_of(session.set_input(2, whole.view())), Code::kNotFound);
  EXPECT_EQ(code_of(session.run()), Code::kState);  // nothing is set
  const OwnedTensor a = floats({3, 2}, {1, 2, 3, 4, 5, 6}), b = floats({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(session.set_input(0, a.view()).ok());
  ASSERT_TRUE(session.set_input(1, b.view()).ok());
  EXPECT_EQ(code_of(session.run()), Code::kBadShape);  // N is 3 and 2
  EXPECT_FALSE(session.output(0).ok());
  TensorView turned = a.view();
  std::swap(turned.dims[0], turned.dims[1]);
  std::swap(turned.strides[0], turned.strides[1]);
  EXPECT_EQ(code_of(session.set_input(1, turned)), Code::kUsage);  // not dense
  const OwnedTensor c = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(session.set_input(1, c.view()).ok());
  EXPECT_EQ(code_of(session.run()), Code::kOk);
}

TEST(Session, OutputsInTheCallersMemory) {
  Machinery machinery(compiled(kPair));
  Session& session = machinery.session();
  const OwnedTensor a = floats({1, 2}, {1, 2}), b = floats({2, 1}, {10, 20});
  OwnedTensor mine = floats({1, 2}, {0, 0});
  ASSERT_TRUE(session.set_input(0, a.view()).ok());
  ASSERT_TRUE(session.set_input(1, b.view()).ok());
  ASSERT_TRUE(session.set_output(0, mine.view()).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_EQ(Elements(mine.view()).number(1), 22);
  EXPECT_EQ(session.output(0)->data, mine.view().data);
  ASSERT_TRUE(session.set_output(0, {}).ok());  // taken back
  Elements(mine.view()).set_number(1, 0);
  ASSERT_TRUE(session.run().ok());
  EXPECT_EQ(Elements(mine.view()).number(1), 0);
  OwnedTensor small = floats({1}, {7});
  ASSERT_TRUE(session.set_output(0, small.view()).ok());
  EXPECT_EQ(code_of(session.run()), Code::kBadShape);
  EXPECT_EQ(Elements(small.view()).number(0), 7);  // not touched
}

TEST(Session, SameValueTwiceAndInputAsOutput) {
  Machinery machinery(compiled(R"(graph "twice"
  input %x: f32[2] "x"
  constant %k: f32[2] = {3, 4}
  %y = neg(%x)
  output %y "y"
  output %y "again"
  output %x "x"
  output %k "k"
end
)"));
  Session& session = machinery.session();
  const OwnedTensor x = floats({2}, {1, 2});
  OwnedTensor first = floats({2}, {0, 0}), second = floats({2}, {0, 0}), copy = floats({2}, {0, 0}),
              constant = floats({2}, {0, 0});
  ASSERT_TRUE(session.set_input(0, x.view()).ok());
  ASSERT_TRUE(session.set_output(0, first.view()).ok());
  for (bool both : {false, true}) {
    if (both) {
      ASSERT_TRUE(session.set_output(1, second.view()).ok());
      ASSERT_TRUE(session.set_output(2, copy.view()).ok());
      ASSERT_TRUE(session.set_output(3, constant.view()).ok());
    }
    ASSERT_TRUE(session.run().ok());
    EXPECT_EQ(Elements(first.view()).number(1), -2);
    EXPECT_EQ(Elements(*session.output(1)).number(1), -2);
    EXPECT_EQ(Elements(*session.output(2)).number(0), 1);
    EXPECT_EQ(Elements(*session.output(3)).number(1), 4);
  }
  EXPECT_EQ(Elements(second.view()).number(0), -1);
  EXPECT_EQ(Elements(copy.view()).number(1), 2);
  EXPECT_EQ(Elements(constant.view()).number(0), 3);
}

TEST(Session, EmptyTensors) {
  Machinery machinery(compiled(kPair));
  Session& session = machinery.session();
  const OwnedTensor a = floats({0, 2}, {}), b = floats({2, 0}, {});
  ASSERT_TRUE(session.set_input(0, a.view()).ok());
  ASSERT_TRUE(session.set_input(1, b.view()).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_EQ(session.output(0)->count(), 0);
}

TEST(Session, States) {
  Machinery machinery(compiled(R"(graph "sum"
  input %x: f32[2] "x"
  input %h: f32[2] "h"
  %n = add(%x, %h)
  output %n "n"
  state "n" "h"
end
)"));
  Session& session = machinery.session();
  const OwnedTensor x = floats({2}, {1, 10});
  ASSERT_TRUE(session.set_input(0, x.view()).ok());
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(session.run().ok());
    EXPECT_EQ(Elements(*session.output(0)).number(1), 10 * i);
  }
  ASSERT_TRUE(session.reset_states().ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_EQ(Elements(*session.output(0)).number(0), 1);
  ASSERT_TRUE(session.set_state(0, floats({2}, {100, 100}).view()).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_EQ(Elements(*session.output(0)).number(0), 101);
  EXPECT_EQ(code_of(session.set_state(1, x.view())), Code::kNotFound);
  EXPECT_EQ(code_of(session.set_state(0, support::ints({2}, {1, 2}).view())), Code::kBadType);
  EXPECT_EQ(code_of(session.set_state(0, floats({1, 2}, {1, 2}).view())), Code::kBadRank);
  EXPECT_EQ(code_of(session.set_state(0, floats({3}, {1, 2, 3}).view())), Code::kBadShape);
}

TEST(Session, StatesCountAgainstTheCap) {
  Machinery machinery(compiled(R"(graph "large"
  input %h: f32[1000] "h"
  %n = neg(%h)
  output %n "n"
  state "n" "h"
end
)"));
  Result<Session*> made = Session::create(machinery.model(), {.memory_cap = 3999});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::kMemoryCap);
}

TEST(Session, SizesThatDoNotFitAreRefused) {
  Machinery machinery(compiled(R"(graph "wide"
  input %x: f32[1,1] "x"
  input %to: i64[2] "to"
  %y = expand(%x, %to)
  output %y "y"
end
)"));
  Session& session = machinery.session();
  const OwnedTensor x = floats({1, 1}, {1});
  for (const auto& sizes : {std::vector<int64_t>{int64_t{1} << 31, int64_t{1} << 33}, {int64_t{1} << 61, 1}}) {
    const OwnedTensor to = support::ints({2}, sizes);
    ASSERT_TRUE(session.set_input(0, x.view()).ok());
    ASSERT_TRUE(session.set_input(1, to.view()).ok());
    EXPECT_EQ(code_of(session.run()), Code::kBadShape);
  }
}

constexpr const char* kGrowing = R"(graph "cache"
  symbol T input
  input %x: f32[1,2] "x"
  input %h: f32[T,2] "h"
  %n = concat(%h, %x) axis=0
  output %n "n"
  state "n" "h"
end
)";

TEST(Session, GrowingState) {
  Machinery machinery(compiled(kGrowing));
  Session& session = machinery.session();
  for (int i = 1; i <= 5; ++i) {
    const OwnedTensor x = floats({1, 2}, {static_cast<float>(i), 0});
    ASSERT_TRUE(session.set_input(0, x.view()).ok());
    ASSERT_TRUE(session.run().ok());
    const TensorView n = *session.output(0);
    ASSERT_EQ(n.dim(0), i);
    for (int k = 0; k < i; ++k) EXPECT_EQ(Elements(n).number(2 * k), k + 1);
  }
}

TEST(Session, AStatesInputIsTakenBack) {
  Machinery machinery(compiled(kGrowing));
  Session& session = machinery.session();
  const OwnedTensor x = floats({1, 2}, {1, 2}), three = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto length = [&] {
    EXPECT_TRUE(session.run().ok());
    return session.output(0)->dim(0);
  };
  ASSERT_TRUE(session.set_input(0, x.view()).ok());
  const auto give = [&] { ASSERT_TRUE(session.set_input(1, three.view()).ok()); };
  give();
  EXPECT_EQ(length(), 4);
  EXPECT_EQ(length(), 4);  // read again, and the state is not
  ASSERT_TRUE(session.reset_states().ok());
  EXPECT_EQ(length(), 1);
  give();
  ASSERT_TRUE(session.set_state(0, x.view()).ok());
  EXPECT_EQ(length(), 2);
  give();
  EXPECT_EQ(length(), 4);
  ASSERT_TRUE(session.clear_input(1).ok());
  EXPECT_EQ(length(), 5);  // the state went on meanwhile
  ASSERT_TRUE(session.clear_input(0).ok());
  EXPECT_EQ(code_of(session.run()), Code::kState);
  EXPECT_EQ(code_of(session.clear_input(2)), Code::kNotFound);
}

TEST(Session, MemoryCapIsKept) {
  RunOptions options;
  options.runner.memory_cap = 1000;
  Machinery machinery(compiled("graph \"n\"\nsymbol N input\ninput %x: f32[N] \"x\"\n%a = exp(%x)\n%y = concat(%a, "
                               "%x)\noutput %y \"y\"\nend\n",
                               options),
                      options);
  Session& session = machinery.session();
  const OwnedTensor large = support::filled(session.input_type(0), 1000, 1),
                    small = support::filled(session.input_type(0), 10, 1);
  ASSERT_TRUE(session.set_input(0, large.view()).ok());
  EXPECT_EQ(code_of(session.prepare()), Code::kMemoryCap);
  EXPECT_EQ(code_of(session.run()), Code::kMemoryCap);
  ASSERT_TRUE(session.set_input(0, small.view()).ok());
  EXPECT_EQ(code_of(session.run()), Code::kOk);
  EXPECT_LE(session.runner().memory_bytes(), 1000u);
}

// Tables for a row of 2^28 samples would take seconds.
TEST(Session, TheCapIsAskedBeforeTablesAreMade) {
  RunOptions options;
  options.runner.memory_cap = 1 << 20;
  Machinery machinery(compiled(R"(graph "long"
  input %x: f32[1,1,1,4] "x"
  constant %s: f32[4] = {1, 1, 1, 67108864}
  %a = resize(%x, _, %s) mode=linear
  %y = global_max_pool(%a)
  output %y "y"
end
)",
                               options),
                      options);
  Session& session = machinery.session();
  ASSERT_TRUE(session.set_input(0, support::filled(session.input_type(0), 1, 1).view()).ok());
  const int64_t begin = process_cpu_ns();
  EXPECT_EQ(code_of(session.prepare()), Code::kMemoryCap);
  EXPECT_LT(process_cpu_ns() - begin, 1'000'000'000);
}

TEST(Session, StageCallbacks) {
  RunOptions options;
  options.lower.chains = false;
  Machinery machinery(
      compiled(
          "graph \"n\"\ninput %x: f32[3] \"x\"\n%a = exp(%x)  # first\n%b = neg(%a)  # second\noutput %b \"b\"\nend\n",
          options),
      options);
  Session& session = machinery.session();
  const OwnedTensor x = floats({3}, {0, 1, 2});
  ASSERT_TRUE(session.set_input(0, x.view()).ok());
  struct Seen {
    std::vector<std::string> names;
    std::vector<double> numbers;
    int stop_after = 99;
  } seen;
  session.runner().set_stage_callback(
      [](void* user, const StageEvent& event) {
        auto& s = *static_cast<Seen*>(user);
        s.names.emplace_back(event.name);
        s.numbers.push_back(Elements(event.outputs[0]).number(0));
        return --s.stop_after > 0;
      },
      &seen);
  ASSERT_TRUE(session.run().ok());
  EXPECT_EQ(seen.names, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(seen.numbers, (std::vector<double>{1, -1}));
  seen = {.names = {}, .numbers = {}, .stop_after = 1};
  EXPECT_EQ(code_of(session.run()), Code::kCancelled);
  EXPECT_EQ(seen.names.size(), 1u);
}

}  // namespace
}  // namespace mica
