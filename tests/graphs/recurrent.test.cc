// Recurrent layers whose time steps several threads share: the same bits as on one thread.
#include <gtest/gtest.h>

#include "support/run_graph.h"

namespace mica {
namespace {

using support::difference;
using support::Machinery;
using support::RunOptions;
using support::weights;

struct Layer {
  std::string op, attributes;
  int gates;
};

constexpr int kInput = 5, kHidden = 192;

std::string text_of(const Layer& layer, bool lengths) {
  const std::string tail = lengths ? ", _, %n" : "";
  return "graph \"recurrent\"\n  input %x: f32[4,9,5] \"x\"\n" + weights("w", {1, layer.gates * kHidden, kInput}) +
         weights("r", {1, layer.gates * kHidden, kHidden}) +
         (lengths ? "  constant %n: i32[9] = {4, 0, 1, 2, 3, 4, 4, 2, 1}\n" : "") + "  %y, %h = " + layer.op +
         "(%x, %w, %r" + tail + ")" + layer.attributes + "\n  output %y \"y\"\n  output %h \"h\"\nend\n";
}

std::vector<OwnedTensor> run(const std::string& text, int threads) {
  RunOptions options;
  options.threads = threads;
  Machinery machinery(support::compiled(text, options), options);
  Session& session = machinery.session();
  const OwnedTensor x = support::filled(session.input_type(0), 3, 5);
  std::vector<OwnedTensor> outputs;
  EXPECT_TRUE(session.set_input(0, x.view()).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(session.run().ok());
  for (size_t i = 0; i < session.output_count(); ++i)
    outputs.push_back(value_or_throw(OwnedTensor::copy_of(*session.output(i))));
  return outputs;
}

TEST(Recurrent, ThreadsShareTimeSteps) {
  for (const Layer& layer : {Layer{"lstm", "", 4}, Layer{"gru", " linear_before_reset=true", 3}, Layer{"rnn", "", 1},
                             Layer{"gru", " linear_before_reset=true, direction=reverse", 3}})
    for (const bool lengths : {false, true}) {
      const std::string text = text_of(layer, lengths);
      const auto wanted = run(text, 1);
      ASSERT_EQ(wanted.size(), 2u);
      for (const int threads : {2, 3, 8})
        EXPECT_EQ(difference(wanted, run(text, threads), 0), "") << layer.op << ' ' << lengths << ' ' << threads;
    }
}

}  // namespace
}  // namespace mica
