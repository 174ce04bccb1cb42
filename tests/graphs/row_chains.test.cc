// Chains of rows: the same bits as stage by stage, for awkward windows, branches, batches and any number of threads.
#include <gtest/gtest.h>

#include "support/forced.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::Machinery;
using support::numbers;
using support::RunOptions;
using support::weights;

struct Problem {
  const char* name;
  std::string input;  // dims of x
  std::string constants;
  std::string body;  // makes %y of %x
};

std::string text_of(const Problem& p) {
  return "graph \"rows\"\n  input %x: f32[" + p.input + "] \"x\"\n" + p.constants + p.body + "  output %y \"y\"\nend\n";
}

// Expand, depthwise, project with a residual: twice, so that the first result is read by two stages.
Problem inverted(const char* name, const std::string& size, const std::string& middle) {
  return {name, "1,5," + size,
          weights("a", {24, 5, 1, 1}) + weights("b", {24, 1, 3, 3}) + weights("c", {5, 24, 1, 1}) +
              weights("d", {24, 5, 1, 1}) + weights("e", {24, 1, 3, 3}) + weights("f", {7, 24, 1, 1}),
          "  %1 = conv(%x, %a)\n  %2 = relu(%1)\n  %3 = conv(%2, %b) groups=24, pads=[1,1,1,1]\n  %4 = relu(%3)\n"
          "  %5 = conv(%4, %c)\n  %6 = add(%x, %5)\n  %7 = conv(%6, %d)\n  %8 = relu(%7)\n  %9 = conv(%8, %e) " +
              middle + "\n  %10 = conv(%9, %f)\n  %y = sigmoid(%10)\n"};
}

std::vector<Problem> inverted_problems() {
  return {
      inverted("stride1", "13,9", "groups=24, pads=[1,1,1,1]"),
      inverted("stride2", "15,10", "groups=24, pads=[1,1,1,1], strides=[2,2]"),
      inverted("one_pixel_wide", "17,1", "groups=24, pads=[1,1,1,1]"),
      inverted("two_rows", "2,8", "groups=24, pads=[1,1,1,1]"),
      inverted("lopsided", "14,6", "groups=24, pads=[2,0,0,3], strides=[3,1]"),
      inverted("dilated", "19,7", "groups=24, pads=[4,0,4,0], dilations=[4,1]"),
      inverted("wide", "9,37", "groups=24, pads=[1,2,1,0], strides=[2,3]"),
      inverted("dilated_columns", "11,29", "groups=24, pads=[1,4,1,4], dilations=[1,4]"),
      inverted("windows_as_wide_as_parts", "5,27", "groups=24, pads=[1,4,1,4], dilations=[1,4]"),
      inverted("windows_wider_than_half", "5,12", "groups=24, pads=[1,6,1,6], dilations=[1,6]"),
  };
}

std::vector<Problem> problems() {
  const std::string w3 = weights("a", {6, 3, 3, 3}) + weights("b", {6, 6, 3, 3}) + weights("c", {4, 6, 1, 1});
  std::vector<Problem> all = inverted_problems();
  all.insert(
      all.end(),
      {
          {"implicit", "1,3,21,8", w3,
           "  %1 = conv(%x, %a) pads=[1,1,1,1], strides=[2,1]\n  %2 = relu(%1)\n  %3 = conv(%2, %b) pads=[2,1,1,0], "
           "strides=[1,2]\n"
           "  %y = conv(%3, %c)\n"},
          {"gaps", "1,3,23,8", w3,
           "  %1 = conv(%x, %a) pads=[0,1,0,1]\n  %2 = conv(%1, %c) strides=[4,1]\n  %y = relu(%2)\n"},
          {"pools", "2,3,25,11", w3,
           "  %1 = conv(%x, %a) pads=[1,1,1,1]\n  %2 = max_pool(%1) kernel=[3,3], strides=[2,2], pads=[1,1,1,1], "
           "ceil_mode=true\n  %3 = conv(%2, %c)\n  %y = average_pool(%3) kernel=[3,2], strides=[2,1], pads=[1,0,2,1], "
           "count_include_pad=true, ceil_mode=true\n"},
          {"padding_only", "1,3,6,5", w3,
           "  %1 = conv(%x, %a) pads=[3,1,5,1]\n  %2 = conv(%1, %b) pads=[4,1,4,1]\n  %y = conv(%2, %c)\n"},
          {"branches", "2,3,18,7", w3 + weights("d", {6, 3, 1, 1}) + weights("s", {1, 6, 1, 1}) + weights("h", {18, 1}),
           "  %1 = conv(%x, %a) pads=[1,1,1,1]\n  %2 = conv(%x, %d)\n  %3 = mul(%1, %2)\n  %4 = mul(%3, %s)\n"
           "  %5 = tanh(%4)\n  %6 = conv(%5, %b) pads=[1,1,1,1]\n  %7 = add(%6, %h)\n  %8 = sub(%7, %5)\n"
           "  %y = conv(%8, %c)\n"},
          {"wide_pools", "2,3,25,37", w3,
           "  %1 = conv(%x, %a) pads=[1,1,1,1]\n  %2 = max_pool(%1) kernel=[3,3], strides=[2,2], pads=[1,1,1,1], "
           "ceil_mode=true\n  %3 = conv(%2, %c)\n  %y = average_pool(%3) kernel=[2,3], strides=[1,1], pads=[0,1,1,2], "
           "count_include_pad=true, ceil_mode=true\n"},
          {"wide_branches", "2,3,7,21", w3 + weights("d", {6, 3, 1, 1}) + weights("h", {7, 1}) + weights("r", {21}),
           "  %1 = conv(%x, %a) pads=[1,1,1,1]\n  %2 = conv(%x, %d)\n  %3 = mul(%1, %2)\n  %4 = add(%3, %r)\n"
           "  %5 = tanh(%4)\n  %6 = conv(%5, %b) pads=[1,1,1,1]\n  %7 = add(%6, %h)\n  %8 = sub(%7, %5)\n"
           "  %y = conv(%8, %c)\n"},
          {"one_axis", "2,3,50", weights("a", {6, 3, 5}) + weights("b", {6, 1, 3}) + weights("c", {4, 6, 1}),
           "  %1 = conv(%x, %a) pads=[2,2]\n  %2 = conv(%1, %b) groups=6, dilations=[3], pads=[3,3]\n"
           "  %3 = relu(%2)\n  %y = conv(%3, %c) strides=[2]\n"},
          {"three_axes", "2,3,9,4,5",
           weights("a", {6, 3, 3, 1, 3}) + weights("b", {6, 1, 3, 3, 1}) + weights("c", {4, 6, 1, 1, 1}),
           "  %1 = conv(%x, %a) pads=[1,0,1,1,0,1]\n  %2 = conv(%1, %b) groups=6, pads=[1,1,0,1,1,0]\n"
           "  %y = conv(%2, %c)\n"},
      });
  return all;
}

bool has_chain(const Session& session) {
  const BoundSegment* segment = const_cast<Session&>(session).runner().last_segment();
  for (const BoundStep& step : segment->steps)
    if (step.first_stage != step.stage) return true;
  return false;
}

std::vector<OwnedTensor> run(const std::string& text, const RunOptions& options, bool chained) {
  Machinery machinery(support::compiled(text, options), options);
  Session& session = machinery.session();
  const OwnedTensor x = support::filled(session.input_type(0), 3, 5);
  std::vector<OwnedTensor> outputs;
  if (!session.set_input(0, x.view()).ok() || !session.run().ok() || !session.run().ok()) return outputs;
  EXPECT_EQ(has_chain(session), chained);
  for (size_t i = 0; i < session.output_count(); ++i)
    outputs.push_back(value_or_throw(OwnedTensor::copy_of(*session.output(i))));
  return outputs;
}

void expect_the_same_bits(const std::vector<Problem>& all, bool low_memory) {
  for (const Problem& problem : all) {
    SCOPED_TRACE(problem.name);
    RunOptions options;
    options.runner.low_memory = low_memory;
    options.runner.row_chains = RowChainMode::kNever;
    const auto wanted = run(text_of(problem), options, false);
    ASSERT_FALSE(wanted.empty());
    options.runner.row_chains = RowChainMode::kAlways;
    for (int threads : {1, 2, 3, 8}) {
      options.threads = threads;
      EXPECT_EQ(difference(wanted, run(text_of(problem), options, true), 0), "") << threads;
    }
  }
}

// With little memory there is no Winograd, which takes whole pictures, on any instruction set.
TEST(RowChains, SameBitsAsStageByStage) { expect_the_same_bits(problems(), true); }

TEST(RowChains, SameBitsInPairs) {
  const support::Forced forced("paired");
  expect_the_same_bits(inverted_problems(), false);
}

// What somebody looks at exists: results in the middle that are outputs, and all of them for a callback.
TEST(RowChains, ValuesThatAreLookedAtExist) {
  Problem problem = inverted("output", "13,9", "groups=24, pads=[1,1,1,1]");
  std::string text = text_of(problem);
  text.insert(text.find("  output"), "  output %6 \"middle\"\n");
  RunOptions options;
  options.runner.row_chains = RowChainMode::kNever;
  const auto wanted = run(text, options, false);
  options.runner.row_chains = RowChainMode::kAlways;
  EXPECT_EQ(difference(wanted, run(text, options, true), 0), "");

  Machinery machinery(support::compiled(text, options), options);
  const OwnedTensor x = support::filled(machinery.session().input_type(0), 3, 5);
  ASSERT_TRUE(machinery.session().set_input(0, x.view()).ok());
  int stages = 0;
  const auto count = [](void* user, const StageEvent& event) {
    ++*static_cast<int*>(user);
    return event.stage == event.first_stage && event.outputs[0].data != nullptr;
  };
  machinery.session().runner().set_stage_callback(count, &stages);
  ASSERT_TRUE(machinery.session().run().ok());
  EXPECT_FALSE(has_chain(machinery.session()));
  machinery.session().runner().set_stage_callback(nullptr, nullptr);
  ASSERT_TRUE(machinery.session().run().ok());
  EXPECT_TRUE(has_chain(machinery.session()));
  EXPECT_EQ(static_cast<size_t>(stages), machinery.model().plan().functions[0].stages.size());
}

// A chain needs less memory than its intermediates, and asks for none while it runs.
TEST(RowChains, WindowsAreSmall) {
  const std::string text = text_of(inverted("memory", "400,30", "groups=24, pads=[1,1,1,1]"));
  size_t arena[2];
  for (bool chained : {false, true}) {
    RunOptions options;
    options.runner.row_chains = chained ? RowChainMode::kAlways : RowChainMode::kNever;
    Machinery machinery(support::compiled(text, options), options);
    const OwnedTensor x = support::filled(machinery.session().input_type(0), 3, 5);
    ASSERT_TRUE(machinery.session().set_input(0, x.view()).ok());
    ASSERT_TRUE(machinery.session().run().ok());
    arena[chained] = machinery.session().runner().arena_bytes();
  }
  EXPECT_LT(arena[1] * 2, arena[0]);
}

}  // namespace
}  // namespace mica
