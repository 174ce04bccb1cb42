// One model between sessions and threads.
#include <gtest/gtest.h>

#include <thread>

#include "support/run_graph.h"

namespace mica {
namespace {

using support::compiled;
using support::difference;
using support::Machinery;
using support::run_text;
using support::RunOptions;

std::string list_of(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string((i * 37 % 19 - 9) / 8.0);
  return text + "}";
}

// Large enough for several tasks of each kind of kernel.
std::string network() {
  return R"(graph "net"
  symbol N input
  input %x: f32[N,8,33,31] "x"
  constant %w: f32[16,8,3,3] = )" +
         list_of(16 * 8 * 9) + R"(
  constant %d: f32[16,1,3,3] = )" +
         list_of(16 * 9) + R"(
  constant %m: f32[31,24] = )" +
         list_of(31 * 24) + R"(
  constant %last: i64[1] = {-1}
  %a = conv(%x, %w) pads=[1,1,1,1]
  %b = relu(%a)
  %c = conv(%b, %d) pads=[1,1,1,1], groups=16
  %e = add(%b, %c)
  %f = max_pool(%e) kernel=[3,3], pads=[1,1,1,1]
  %g = matmul(%f, %m)
  %h = softmax(%g)
  %i = reduce(%h, %last) kind=mean
  %j = sub(%h, %i)
  %y = exp(%j)
  output %y "y"
  output %e "e"
end
)";
}

TEST(Sharing, AnyNumberOfThreadsGivesTheSameBits) {
  RunOptions one;
  one.size = 2;
  const auto wanted = run_text(network(), one);
  for (int threads : {2, 3, 8}) {
    RunOptions many = one;
    many.threads = threads;
    EXPECT_EQ(difference(wanted, run_text(network(), many), 0), "") << threads << " threads";
  }
}

TEST(Sharing, TwoSessionsOnTwoThreads) {
  for (int pool : {1, 3}) {
    RunOptions options;
    options.threads = pool;
    Machinery machinery(compiled(network()), options);
    std::vector<OwnedTensor> wanted[2];
    for (uint64_t k : {0, 1}) {
      RunOptions alone;
      alone.seed = 5 + k;
      alone.size = static_cast<int64_t>(1 + k);
      wanted[k] = run_text(network(), alone);
    }
    std::string failed[2];
    const auto work = [&](size_t k) {
      Result<Session*> made = Session::create(machinery.model());
      if (!made.ok()) {
        failed[k] = "no session";
        return;
      }
      Session& session = **made;
      const OwnedTensor x = support::filled(session.input_type(0), static_cast<int64_t>(1 + k), 5 + k);
      for (int i = 0; i < 8 && failed[k].empty(); ++i) {
        if (!session.set_input(0, x.view()).ok() || !session.run().ok()) {
          failed[k] = "the run failed";
          break;
        }
        for (size_t o = 0; o < wanted[k].size() && failed[k].empty(); ++o)
          failed[k] = difference(wanted[k][o].view(), *session.output(o), 0);
      }
      Session::destroy(&session);
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    EXPECT_EQ(failed[0], "");
    EXPECT_EQ(failed[1], "");
  }
}

TEST(Sharing, PackedWeightsAreMadeOnce) {
  RunOptions options;
  options.lower.pack = false;
  Machinery machinery(compiled(network(), options), options);
  const OwnedTensor x = support::filled(machinery.session().input_type(0), 1, 1);
  ASSERT_TRUE(machinery.session().set_input(0, x.view()).ok());
  ASSERT_TRUE(machinery.session().run().ok());
  const size_t bytes = machinery.model().packed_bytes();
  EXPECT_GT(bytes, 0u);
  Result<Session*> second = Session::create(machinery.model());
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE((*second)->set_input(0, x.view()).ok());
  ASSERT_TRUE((*second)->run().ok());
  EXPECT_EQ(machinery.model().packed_bytes(), bytes);
  Session::destroy(*second);
}

// The session that makes a form of weights is charged for it, and one that finds it there is not.
TEST(Sharing, PackedWeightsCountAgainstTheCap) {
  RunOptions options;
  options.lower.pack = false;
  Machinery probe(compiled(network(), options), options);
  const OwnedTensor x = support::filled(probe.session().input_type(0), 1, 1);
  ASSERT_TRUE(probe.session().set_input(0, x.view()).ok());
  ASSERT_TRUE(probe.session().prepare().ok());
  const size_t buffers = probe.session().runner().memory_bytes(), packed = probe.model().packed_bytes();
  for (const size_t cap : {buffers + packed - 1, buffers + packed}) {
    RunOptions capped = options;
    capped.runner.memory_cap = cap;
    Machinery machinery(compiled(network(), options), capped);
    ASSERT_TRUE(machinery.session().set_input(0, x.view()).ok());
    EXPECT_EQ(machinery.session().run().ok(), cap == buffers + packed);
  }
  Result<Session*> second = Session::create(probe.model(), {.memory_cap = buffers});
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE((*second)->set_input(0, x.view()).ok());
  EXPECT_TRUE((*second)->run().ok());
  Session::destroy(*second);
}

// A model outlives the name that loaded it as long as a session uses it.
TEST(Sharing, SessionsKeepTheModel) {
  Machinery machinery(compiled(network()));
  machinery.model().retain();
  Result<Session*> session = Session::create(machinery.model());
  ASSERT_TRUE(session.ok());
  machinery.model().drop();
  const OwnedTensor x = support::filled((*session)->input_type(0), 1, 1);
  ASSERT_TRUE((*session)->set_input(0, x.view()).ok());
  EXPECT_TRUE((*session)->run().ok());
  Session::destroy(*session);
}

}  // namespace
}  // namespace mica
