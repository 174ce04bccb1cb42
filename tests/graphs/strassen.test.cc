// Products of matrices by Strassen's algorithm in a whole model: who chooses that, and that the numbers stay what they
// were.
#include <gtest/gtest.h>

#include "measure/explain_step.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::Machinery;
using support::RunOptions;
using support::weights;

constexpr int64_t kDepth = 2048;

struct Ran {
  std::vector<OwnedTensor> outputs;
  std::string kernel, choice;
  size_t weight_bytes = 0;
};

Ran run(const std::string& text, const RunOptions& options) {
  Machinery machinery(support::compiled(text, options), options);
  Session& session = machinery.session();
  const OwnedTensor x = support::filled(session.input_type(0), 3, 5);
  EXPECT_TRUE(session.set_input(0, x.view()).ok());
  EXPECT_TRUE(session.run().ok()) << text;
  Ran ran;
  ran.outputs.push_back(value_or_throw(OwnedTensor::copy_of(*session.output(0))));
  for (const BoundStep& step : session.runner().last_segment()->steps)
    if (step.name.starts_with("gemm")) {
      char words[1024];
      Explanation explanation;
      EXPECT_TRUE(explain_any_step(step.kernel, step.arguments, words, explanation));
      ran.kernel = step.name;
      ran.choice = std::string(words, explanation.length);
    }
  ran.weight_bytes = session.model().weight_bytes();
  return ran;
}

// Two batches, whose rows are one matrix.
std::string graph(const std::string& product) {
  return "graph \"product\"\n  input %x: f32[2,101," + std::to_string(kDepth) + "] \"x\"\n" +
         weights("w", {kDepth, 512}) + weights("b", {512}) + product + "  output %y \"y\"\nend\n";
}

TEST(StrassenProducts, OnlyWhereMemoryMayBeTaken) {
  const std::string text = graph("  %1 = matmul(%x, %w)\n  %2 = add(%1, %b)\n  %3 = gelu(%2)\n  %y = add(%3, %2)\n");
  RunOptions options;
  options.runner.exact = true;  // by a fixed machine's costs
  const Ran fast = run(text, options);
  EXPECT_EQ(fast.kernel, "gemm_f32_strassen");
  EXPECT_NE(fast.choice.find("plain "), std::string::npos);
  EXPECT_NE(fast.choice.find("(chosen). m=202 n=512 k=2048 halves=101x256x1024 "), std::string::npos) << fast.choice;
  for (int threads : {2, 3, 8}) {
    options.threads = threads;
    EXPECT_EQ(difference(fast.outputs, run(text, options).outputs, 0), "") << threads;
  }
  options.runner.low_memory = true;
  const Ran low = run(text, options);
  EXPECT_EQ(low.kernel, "gemm_f32");
  EXPECT_GE(fast.weight_bytes, low.weight_bytes + kDepth * 512 * sizeof(float) * 3 / 4);
  // Both err by at most the length of a sum, as multiples of the rounding of the largest value.
  EXPECT_EQ(difference(low.outputs, fast.outputs, static_cast<double>(kDepth)), "");
}

}  // namespace
}  // namespace mica
