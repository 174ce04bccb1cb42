// Transposed convolutions whose phases are transformed: who chooses that, and that the numbers stay what they were.
#include <gtest/gtest.h>

#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::Machinery;
using support::RunOptions;
using support::weights;

struct Ran {
  std::vector<OwnedTensor> outputs;
  std::string kernel;
};

Ran run(const std::string& text, RunOptions options) {
  options.seed = 5;
  Machinery machinery(support::compiled(text, options), options);
  Session& session = machinery.session();
  Ran ran;
  ran.outputs = support::run_session(session, text, options);
  for (const BoundStep& step : session.runner().last_segment()->steps)
    if (step.name.starts_with("conv_transpose")) ran.kernel = step.name;
  return ran;
}

// 4x4 taps with stride 2 are four phases of 2x2 taps; every output is the sum of 4 · 96 products.
std::string graph(const std::string& rest) {
  return "graph \"upsample\"\n  input %x: f32[2,96,13,15] \"x\"\n" + weights("w", {96, 96, 4, 4}) +
         "  %1 = conv_transpose(%x, %w) pads=[1,1,1,1], strides=[2,2]\n" + rest + "  output %y \"y\"\nend\n";
}

TEST(ConvTransposePhases, TransformedOnlyWhereMemoryMayBeTaken) {
  for (const char* rest : {"  %y = relu(%1)\n", "  %2 = silu(%1)\n  %y = add(%2, %1)\n"}) {
    RunOptions options;
    const Ran fast = run(graph(rest), options);
    EXPECT_EQ(fast.kernel, "conv_transpose_f32_winograd");
    options.threads = 3;
    EXPECT_EQ(difference(fast.outputs, run(graph(rest), options).outputs, 0), "");
    options.runner.low_memory = true;
    const Ran low = run(graph(rest), options);
    EXPECT_EQ(low.kernel, "conv_transpose_f32");
    // Both err by at most the length of a sum, as multiples of the rounding of the largest value.
    EXPECT_EQ(difference(low.outputs, fast.outputs, 4 * 96), "");
  }
}

}  // namespace
}  // namespace mica
