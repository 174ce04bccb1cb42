// Products of matrices by Strassen's algorithm, and of terms in pairs, in a whole model: who chooses that, and that the
// numbers stay what they were.
#include <gtest/gtest.h>

#include "device/cpu/machine.h"
#include "kernels/gemm/gemm.h"
#include "measure/explain_step.h"
#include "support/forced.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::Forced;
using support::Machinery;
using support::RunOptions;
using support::weights;

constexpr int64_t kDepth = 300;

struct Ran {
  std::vector<OwnedTensor> outputs;
  std::string kernel, choice;
  size_t weight_bytes = 0;
};

Ran run(const std::string& text, RunOptions options) {
  options.seed = 5;
  Machinery machinery(support::compiled(text, options), options);
  Session& session = machinery.session();
  Ran ran;
  ran.outputs = support::run_session(session, text, options);
  for (const BoundStep& step : session.runner().last_segment()->steps)
    if (step.name.starts_with("gemm") || step.name.starts_with("conv_f32")) {
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
         weights("w", {kDepth, 150}) + weights("b", {150}) + product + "  output %y \"y\"\nend\n";
}

// Whether the text says of this algorithm that it was chosen.
bool is_chosen(const Ran& ran, const std::string& name) {
  const size_t at = ran.choice.find(name + " ");
  return at != std::string::npos && ran.choice.substr(0, ran.choice.find_first_of(";.", at)).ends_with("(chosen)");
}

void expect_the_same_for_threads(const Ran& ran, const std::string& text, RunOptions options) {
  for (int threads : {2, 3, 8}) {
    options.threads = threads;
    EXPECT_EQ(difference(ran.outputs, run(text, options).outputs, 0), "") << threads;
  }
}

Ran run_by(const char* algorithm, const std::string& text) {
  const Forced forced(algorithm);
  return run(text, {});
}

TEST(StrassenProducts, OnlyWhereMemoryMayBeTaken) {
  const Forced forced("strassen");
  const std::string text = graph("  %1 = matmul(%x, %w)\n  %2 = add(%1, %b)\n  %3 = gelu(%2)\n  %y = add(%3, %2)\n");
  RunOptions options;
  const Ran fast = run(text, options);
  EXPECT_EQ(fast.kernel, "gemm_f32_strassen");
  EXPECT_NE(fast.choice.find("plain "), std::string::npos);
  EXPECT_TRUE(is_chosen(fast, "strassen")) << fast.choice;
  EXPECT_NE(fast.choice.find(". m=202 n=150 k=300 halves=101x80x150 "), std::string::npos) << fast.choice;
  expect_the_same_for_threads(fast, text, options);
  options.runner.low_memory = true;
  const Ran low = run(text, options);
  EXPECT_EQ(low.kernel, "gemm_f32");
  EXPECT_GE(fast.weight_bytes, low.weight_bytes + kDepth * 150 * sizeof(float) * 3 / 4);
  // Both err by at most the length of a sum, as multiples of the rounding of the largest value.
  EXPECT_EQ(difference(low.outputs, fast.outputs, static_cast<double>(kDepth)), "");
}

// A residual that dies here could stand where the result does, but blocks are written before some rows are made anew.
TEST(StrassenProducts, ResidualsStandApart) {
  const std::string text = "graph \"residual\"\n  input %x: f32[40,60] \"x\"\n" + weights("w", {60, 60}) +
                           "  %r = matmul(%x, %w)\n  %s = abs(%r)\n  %t = matmul(%s, %w)\n  %u = add(%t, %r)\n"
                           "  %y = neg(%u)\n  output %y \"y\"\nend\n";
  RunOptions low;
  low.runner.low_memory = true;
  const Ran plain = run(text, low), made = run_by("strassen", text);
  EXPECT_EQ(plain.kernel, "gemm_f32");
  EXPECT_EQ(made.kernel, "gemm_f32_strassen");
  EXPECT_EQ(difference(plain.outputs, made.outputs, 1e3), "");
}

// Pointwise convolutions likewise; weights that come at run are taken as they are.
TEST(StrassenProducts, ArePointwiseConvolutionsToo) {
  const auto text = [](const char* before, const char* operand) {
    return "graph \"conv\"\n  input %x: f32[2,300,7,9] \"x\"\n" + weights("w", {150, 300, 1, 1}) + weights("b", {150}) +
           before + "  %1 = conv(%x, " + operand +
           ", %b)\n  %2 = silu(%1)\n  %y = add(%2, %1)\n  output %y \"y\"\nend\n";
  };
  const std::string constant = text("", "%w");
  const Ran plain = run_by("pointwise", constant);
  EXPECT_EQ(plain.kernel, "conv_f32_pointwise");
  const Forced forced("strassen");
  RunOptions options;
  const Ran fast = run(constant, options);
  EXPECT_EQ(fast.kernel, "conv_f32_strassen");
  EXPECT_TRUE(is_chosen(fast, "strassen")) << fast.choice;
  EXPECT_NE(fast.choice.find(". strassen "), std::string::npos) << fast.choice;
  EXPECT_EQ(difference(plain.outputs, fast.outputs, static_cast<double>(kDepth)), "");
  for (int threads : {2, 3}) {
    options.threads = threads;
    EXPECT_EQ(difference(fast.outputs, run(constant, options).outputs, 0), "") << threads;
  }
  options.runner.low_memory = true;
  EXPECT_EQ(run(constant, options).kernel, "conv_f32_pointwise");
  const Ran late = run(text("  input %v: f32[150,300,1,1] \"v\"\n", "%v"), {});
  EXPECT_EQ(late.kernel, "conv_f32_pointwise");
}

// Sets without pairs leave the plain product as it is.
bool has_pairs() {
  const auto machine = describe_machine();
  return machine.ok() && gemm_kernels(machine->isa).paired_weights != nullptr;
}

TEST(PairedProducts, OnlyWhereMemoryMayBeTaken) {
  if (!has_pairs()) return;
  const Forced forced("paired");
  const std::string text = graph("  %1 = matmul(%x, %w)\n  %2 = add(%1, %b)\n  %3 = gelu(%2)\n  %y = add(%3, %2)\n");
  RunOptions options;
  const Ran fast = run(text, options);
  EXPECT_EQ(fast.kernel, "gemm_f32_paired");
  EXPECT_TRUE(is_chosen(fast, "paired")) << fast.choice;
  expect_the_same_for_threads(fast, text, options);
  options.runner.low_memory = true;
  const Ran low = run(text, options);
  EXPECT_EQ(low.kernel, "gemm_f32");
  EXPECT_LE(fast.weight_bytes, low.weight_bytes + 2 * 160 * sizeof(float));
  EXPECT_EQ(difference(low.outputs, fast.outputs, static_cast<double>(kDepth)), "");
}

// Also with a residual that stands where the result does.
TEST(PairedProducts, ArePointwiseConvolutionsToo) {
  if (!has_pairs()) return;
  const std::string text = "graph \"conv\"\n  input %x: f32[2,300,7,9] \"x\"\n" + weights("w", {300, 300, 1, 1}) +
                           weights("b", {300}) + "  %1 = conv(%x, %w, %b)\n  %2 = abs(%1)\n  %3 = conv(%2, %w, %b)\n" +
                           "  %4 = add(%3, %1)\n  %y = relu(%4)\n  output %y \"y\"\nend\n";
  const Ran plain = run_by("pointwise", text), made = run_by("paired", text);
  EXPECT_EQ(plain.kernel, "conv_f32_pointwise");
  EXPECT_EQ(made.kernel, "conv_f32_paired");
  EXPECT_EQ(difference(plain.outputs, made.outputs, 1e3), "");
}

}  // namespace
}  // namespace mica
