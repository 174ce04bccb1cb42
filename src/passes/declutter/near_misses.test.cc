// Graphs that are almost those of the rules' cases: whatever fires, the answers stay. Another draw by
// --gtest_random_seed=N.
#include <gtest/gtest.h>

#include "support/near_miss.h"
#include "support/rule_cases.h"
#include "support/same_answers.h"

namespace mica {
namespace {

using support::RuleCase;
using support::RunOptions;

constexpr int kOfEachCase = 10;
// Changed numbers cancel where a case's own do not: sums that are this much smaller than their terms still pass.
constexpr double kCancelled = 16;

TEST(NearMisses, AnswersStay) {
  const auto draw = static_cast<uint64_t>(GTEST_FLAG_GET(random_seed));
  const std::vector<RuleCase> cases = support::all_cases();
  int compared = 0;
  for (size_t i = 0; i < cases.size(); ++i)
    for (int k = 0; k < kOfEachCase; ++k) {
      support::Random random((draw * cases.size() + i) * kOfEachCase + static_cast<uint64_t>(k));
      const std::string text = support::near_miss(support::graph_of(cases[i].given, cases[i].before), random);
      const support::Answers answers(text, 1, cases[i].units * kCancelled);
      if (!answers.comparable()) continue;
      ++compared;
      RunOptions options;
      if (k % 2 == 0) options.declutter = support::only(cases[i].rule);
      EXPECT_EQ(answers.difference(options), "")
          << "with " << (k % 2 == 0 ? cases[i].rule + " alone" : "all rules") << " in\n"
          << text;
    }
  EXPECT_GT(compared, static_cast<int>(cases.size()) * kOfEachCase / 4);
}

}  // namespace
}  // namespace mica
