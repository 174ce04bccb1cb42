// Forms of weights against the goal for their memory.
#include <gtest/gtest.h>

#include "support/run_graph.h"

namespace mica {
namespace {

using support::compiled;
using support::difference;
using support::Machinery;
using support::run_session;
using support::run_text;
using support::RunOptions;

// Three layers whose fastest form takes four times the room of their weights and a smaller one costs little more, and
// one whose smaller form costs too much.
std::string network() {
  return R"(graph "net"
  input %x: f32[1,64,14,14] "x"
  input %z: f32[1,16,64,64] "z"
)" + support::weights("a", {64, 64, 3, 3}) +
         support::weights("b", {64, 64, 3, 3}) + support::weights("c", {64, 64, 3, 3}) +
         support::weights("d", {16, 16, 3, 3}) +
         R"(  %1 = conv(%x, %a) pads=[1,1,1,1]
  %2 = conv(%1, %b) pads=[1,1,1,1]
  %y = conv(%2, %c) pads=[1,1,1,1]
  %e = conv(%z, %d) pads=[1,1,1,1]
  output %y "y"
  output %e "e"
end
)";
}

struct Made {
  std::vector<OwnedTensor> results;
  size_t weights;
};
Made made_with(RunOptions options) {
  Machinery machinery(compiled(network(), options), options);
  std::vector<OwnedTensor> results = run_session(machinery.session(), network(), options);
  return {std::move(results), machinery.model().weight_bytes()};
}
Made made_with(size_t goal) {
  RunOptions options;
  options.runner.weight_goal = goal;
  return made_with(options);
}

constexpr size_t kPlain = (3 * 64 * 64 * 9 + 16 * 16 * 9) * sizeof(float);
// What the smaller form of a layer of 64 channels saves: 16 instead of 36 points.
constexpr size_t kStep = size_t{64 * 64 * (36 - 16)} * sizeof(float);

// How many forms are given up for any goal. Prices are cycles of the machine's own units: those of AVX-512 save too few
// of them in all three layers, slower ones may save enough.
size_t cheap_forms(size_t all) {
  const size_t least = made_with(1).weights;
  EXPECT_LE(least, all);
  if (Machinery(compiled(network())).context().machine.isa != Isa::kAvx512) return 0;
  EXPECT_EQ(all - least, 3 * kStep);
  return 3;
}

TEST(Forms, AreGivenUpUntilTheGoalIsReached) {
  const Made all = made_with(SIZE_MAX);
  ASSERT_GT(all.weights, 2 * kPlain);
  const size_t most = cheap_forms(all.weights);
  for (size_t given_up = 0; given_up <= most; ++given_up) {
    const size_t goal = all.weights - given_up * kStep;
    EXPECT_EQ(made_with(goal).weights, goal);
    if (given_up > 0) {
      EXPECT_EQ(made_with(goal + kStep / 2).weights, goal);
    }
  }
  const std::vector<OwnedTensor> wanted = run_text(network(), support::plainly());
  EXPECT_EQ(difference(wanted, made_with(1).results, 64), "");
}

TEST(Forms, DoNotDependOnThreads) {
  RunOptions options;
  options.runner.weight_goal = made_with(SIZE_MAX).weights - kStep;
  const Made one = made_with(options);
  options.threads = 3;
  const Made three = made_with(options);
  EXPECT_EQ(one.weights, three.weights);
  EXPECT_EQ(difference(one.results, three.results, 0), "");
}

// Results that must be the same on every machine do not go by this one's costs.
TEST(Forms, OfExactSessionsAreAsTheyWere) {
  RunOptions options;
  options.runner.exact = true;
  const size_t all = made_with(options).weights;
  options.runner.weight_goal = 1;
  EXPECT_EQ(made_with(options).weights, all);
}

}  // namespace
}  // namespace mica
