// Bounded dimensions: memory is planned at the bound, and another number binds nothing anew.
#include <gtest/gtest.h>

#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::Machinery;
using support::RunOptions;

std::string network(const char* kind) {
  return std::string("graph \"speech\"\n  symbol T ") + kind +
         R"(
  input %x: f32[1,T,6] "x"
  constant %w: f32[6,4] = {1, -1, 0.5, 2, 3, 0.25, -2, 1, 0, 1, 2, 3, 4, 5, -6, 7, 8, 9, 1, 2, 3, 4, 5, 6}
  constant %v: f32[3,4,3] = {1, -1, 0.5, 2, 3, 0.25, -2, 1, 0, 1, 2, 3, 4, 5, -6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9)"
         R"(, 1, 2, 3, 4, 5, 6, 7, 8, 9}
  constant %s: i64[3] = {1, 3, -1}
  %a = matmul(%x, %w)
  %b = relu(%a)
  %t = transpose(%b) perm=[0,2,1]
  %c = conv(%t, %v) pads=[1,1]
  %d = softmax(%c) axis=-1
  %e = concat(%c, %d) axis=1
  %f = tanh(%e)
  %k, %l = split(%f) axis=1, parts=2
  %m = mul(%k, %l)
  %r = reshape(%m, %s)
  %y = exp(%r)
  output %y "y"
end
)";
}

TEST(Bounded, AnotherNumberBindsNothing) {
  Machinery bounded(support::compiled(network("bounded 64"))), free(support::compiled(network("input")));
  size_t arena = 0, memory = 0;
  uint64_t refreshes = 0;
  for (int64_t length : {5, 6, 64, 1, 7, 7, 2, 33}) {
    const OwnedTensor x = support::filled(free.session().input_type(0), length, 3);
    for (Machinery* machinery : {&bounded, &free}) {
      ASSERT_TRUE(machinery->session().set_input(0, x.view()).ok());
      ASSERT_TRUE(machinery->session().run().ok()) << length;
    }
    EXPECT_EQ(difference(*free.session().output(0), *bounded.session().output(0), 64), "") << length;
    const Runner& runner = bounded.session().runner();
    if (!arena) arena = runner.arena_bytes(), memory = runner.memory_bytes();
    EXPECT_EQ(runner.binds(), 1u);
    EXPECT_GE(runner.refreshes(), refreshes);
    refreshes = runner.refreshes();
    if (length > 1) {
      EXPECT_EQ(runner.arena_bytes(), arena) << length;
    }
    EXPECT_EQ(runner.memory_bytes(), memory) << length;  // all of it before the first run
  }
  EXPECT_EQ(refreshes, 7u);  // 7 twice in a row
  EXPECT_EQ(free.session().runner().binds(), 7u);
}

TEST(Bounded, BeyondTheBoundIsAnError) {
  Machinery machinery(support::compiled(network("bounded 64")));
  const OwnedTensor x = support::filled(machinery.session().input_type(0), 65, 3);
  ASSERT_TRUE(machinery.session().set_input(0, x.view()).ok());
  const Status status = machinery.session().run();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), Code::kBadShape);
}

TEST(Bounded, TheCapCountsTheBound) {
  Machinery probe(support::compiled(network("input")));
  const OwnedTensor x = support::filled(probe.session().input_type(0), 5, 3);
  ASSERT_TRUE(probe.session().set_input(0, x.view()).ok());
  ASSERT_TRUE(probe.session().prepare().ok());
  RunOptions options;
  // Enough for a length of 5, not for 64.
  options.runner.memory_cap = probe.session().runner().memory_bytes() + probe.model().packed_bytes();
  Machinery bounded(support::compiled(network("bounded 64")), options),
      free(support::compiled(network("input")), options);
  for (Machinery* machinery : {&bounded, &free}) {
    ASSERT_TRUE(machinery->session().set_input(0, x.view()).ok());
    EXPECT_EQ(machinery->session().prepare().ok(), machinery == &free);
  }
}

// A cache that grows by one row with each run.
TEST(Bounded, GrowingState) {
  Machinery machinery(support::compiled(R"(graph "cache"
  symbol T bounded 16
  input %x: f32[1,2] "x"
  input %h: f32[T,2] "h"
  %n = concat(%h, %x) axis=0
  %s = neg(%n)
  output %n "n"
  output %s "s"
  state "n" "h"
end
)"));
  Session& session = machinery.session();
  size_t memory = 0;
  for (int i = 1; i <= 16; ++i) {
    const OwnedTensor x = support::floats({1, 2}, {static_cast<float>(i), 0});
    ASSERT_TRUE(session.set_input(0, x.view()).ok());
    ASSERT_TRUE(session.run().ok());
    if (i == 1) memory = session.memory_bytes();
    EXPECT_EQ(session.memory_bytes(), memory) << i;
    EXPECT_EQ(session.state(0).data, session.output(0)->data);  // they change places: nothing is copied
    const TensorView s = *session.output(1);
    ASSERT_EQ(s.dim(0), i);
    for (int k = 0; k < i; ++k) EXPECT_EQ(Elements(s).number(2 * k), -(k + 1));
  }
  EXPECT_EQ(session.runner().binds(), 1u);
}

// A state whose size the other inputs say begins with as many zeros; one that is set from its own memory keeps its
// numbers.
TEST(Bounded, AStateBeginsAsTheInputsSay) {
  Machinery machinery(support::compiled(R"(graph "sum"
  symbol N input
  input %x: f32[N,2] "x"
  input %h: f32[N,2] "h"
  %n = add(%h, %x)
  output %n "n"
  state "n" "h"
end
)"));
  Session& session = machinery.session();
  for (int64_t rows : {3, 1, 5}) {
    ASSERT_TRUE(session.reset_states().ok());
    const OwnedTensor x = support::filled(session.input_type(0), rows, 3);
    ASSERT_TRUE(session.set_input(0, x.view()).ok());
    for (int step = 1; step <= 3; ++step) {
      ASSERT_TRUE(session.run().ok());
      const TensorView n = *session.output(0);
      ASSERT_EQ(n.dim(0), rows);
      EXPECT_NEAR(Elements(n).number(0), step * Elements(x.view()).number(0), 1e-6) << step;
    }
    ASSERT_TRUE(session.set_state(0, session.state(0)).ok());
    ASSERT_TRUE(session.run().ok());
    EXPECT_NEAR(Elements(*session.output(0)).number(0), 4 * Elements(x.view()).number(0), 1e-6);
  }
}

}  // namespace
}  // namespace mica
