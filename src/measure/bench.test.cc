// Measurements of models with states, and what stages cost by the sizes that a run met.
#include "measure/bench.h"

#include <gtest/gtest.h>

#include "measure/cost.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::compiled;
using support::floats;
using support::Machinery;

// A cache of rows of two, `bound` of them at most, and a sum of its elements.
std::string cache(const char* kind) {
  return std::string("graph \"cache\"\n  symbol P ") + kind + R"(
  input %x: f32[1,2] "x"
  input %h: f32[P,2] "h"
  %n = concat(%h, %x) axis=0
  %e = exp(%n)
  output %n "n"
  output %e "e"
  state "n" "h"
end
)";
}

int64_t length(Session& session) { return session.output(0)->dim(0); }

TEST(Bench, EveryRunBeginsFromTheFirstStates) {
  for (const char* kind : {"input", "bounded 4"}) {
    Machinery machinery(compiled(cache(kind)));
    Session& session = machinery.session();
    const OwnedTensor x = floats({1, 2}, {1, 2});
    ASSERT_TRUE(session.set_input(0, x.view()).ok());
    const auto fresh = bench(session, {.seconds = 0, .least_runs = 9, .layers = true, .progress = {}});
    ASSERT_TRUE(fresh.ok()) << kind << ": " << fresh.error().what();
    EXPECT_EQ(fresh->runs, 9);
    EXPECT_EQ(length(session), 1) << kind;
    EXPECT_EQ(fresh->flops, 2) << kind;  // exp of one row
    ASSERT_TRUE(session.run().ok());
    EXPECT_EQ(length(session), 1) << kind;  // fresh again behind the measurement
    const OwnedTensor two = floats({2, 2}, {5, 6, 7, 8});
    ASSERT_TRUE(session.set_state(0, two.view()).ok());
    const auto layers = profile(session, 5);
    ASSERT_TRUE(layers.ok()) << kind << ": " << layers.error().what();
    int64_t flops = 0;
    for (const LayerTime& layer : *layers) flops += layer.flops;
    EXPECT_EQ(flops, 6) << kind;
    EXPECT_EQ(length(session), 3) << kind;
    ASSERT_TRUE(session.run().ok());
    EXPECT_EQ(length(session), 3) << kind;
    EXPECT_EQ(Elements(*session.output(0)).number(2), 7);
  }
}

TEST(Bench, AStateThatIsGivenAsAnInputStaysGiven) {
  Machinery machinery(compiled(cache("bounded 4")));
  Session& session = machinery.session();
  const OwnedTensor x = floats({1, 2}, {1, 2}), three = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(session.set_input(0, x.view()).ok());
  ASSERT_TRUE(session.set_input(1, three.view()).ok());
  ASSERT_TRUE(bench(session, {.seconds = 0, .least_runs = 9, .layers = true, .progress = {}}).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_EQ(length(session), 4);
}

TEST(Cost, KnowsSizesFromTensorsAlone) {
  Machinery machinery(compiled(cache("input")));
  Session& session = machinery.session();
  const auto early = stage_costs(session);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code(), Code::kState);
  const OwnedTensor x = floats({1, 2}, {1, 2});
  ASSERT_TRUE(session.set_input(0, x.view()).ok());
  for (int64_t rows = 1; rows <= 3; ++rows) {
    ASSERT_TRUE(session.prepare().ok());
    const auto costs = stage_costs(session);
    ASSERT_TRUE(costs.ok());
    int64_t flops = 0;
    for (const StageCost& cost : *costs) flops += cost.flops;
    EXPECT_EQ(flops, 2 * rows);
    ASSERT_TRUE(session.run().ok());
  }
}

}  // namespace
}  // namespace mica
