#include "measure/explain.h"

#include <gtest/gtest.h>

#include "support/forced.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::weights;

std::vector<StageChoice> choices_of(const std::string& text, RowChainMode mode) {
  support::RunOptions options;
  options.runner.row_chains = mode;
  support::Machinery machinery(support::compiled(text, options), options);
  const OwnedTensor x = support::filled(machinery.session().input_type(0), 3, 5);
  EXPECT_TRUE(machinery.session().set_input(0, x.view()).ok());
  return value_or_throw(explain(machinery.session()));
}

// What is said of a stage, and whether it does what is forced, does not end where stages are run by rows.
TEST(Explain, StagesOfChains) {
  const std::string text = "graph \"rows\"\n  input %x: f32[1,5,40,12] \"x\"\n" + weights("a", {24, 5, 1, 1}) +
                           weights("b", {24, 1, 3, 3}) + weights("c", {7, 24, 1, 1}) +
                           "  %1 = conv(%x, %a)\n  %2 = relu(%1)\n  %3 = conv(%2, %b) groups=24, pads=[1,1,1,1]\n"
                           "  %4 = relu(%3)\n  %y = conv(%4, %c)\n  output %y \"y\"\nend\n";
  for (const std::string forced : {"", "implicit", "depthwise"}) {
    SCOPED_TRACE(forced);
    const support::Forced force(forced.c_str());
    const auto alone = choices_of(text, RowChainMode::kNever), chained = choices_of(text, RowChainMode::kAlways);
    ASSERT_EQ(alone.size(), 3u);
    ASSERT_EQ(chained.size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(chained[i].name, alone[i].name);
      EXPECT_NE(alone[i].kernel, "row_chain");
      EXPECT_EQ(chained[i].kernel, "row_chain");
      EXPECT_NE(chained[i].choice.find(" kcycles, "), std::string::npos) << chained[i].choice;
      EXPECT_NE(chained[i].choice.find(" (chosen)"), std::string::npos) << chained[i].choice;
      EXPECT_EQ(chained[i].can_force, forced == "implicit" || (forced == "depthwise" && i == 1)) << i;
      EXPECT_EQ(chained[i].is_forced, chained[i].can_force) << i;
    }
  }
}

}  // namespace
}  // namespace mica
