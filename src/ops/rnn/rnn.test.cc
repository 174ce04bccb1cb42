#include <gtest/gtest.h>

#include "problem.h"

namespace mica::suite {
namespace {

struct Layer {
  const char* op;
  int64_t gates;
  const char* kernel;
  int64_t hidden = 19;
};

Problem recurrent(const Layer& layer, int64_t directions, bool batch_first, std::vector<Attribute> attributes = {}) {
  const int64_t time = 5, batch = 3, input = 7, hidden = layer.hidden, width = layer.gates * hidden;
  Problem p{.op = layer.op, .attributes = std::move(attributes), .outputs = layer.gates == 4 ? 3 : 2};
  p.attributes.emplace_back("batch_first", batch_first);
  if (directions == 2) p.attributes.emplace_back("direction", "bidirectional");
  const std::vector<int64_t> state =
      batch_first ? std::vector<int64_t>{batch, directions, hidden} : std::vector<int64_t>{directions, batch, hidden};
  p.inputs = {
      uniform(batch_first ? std::vector<int64_t>{batch, time, input} : std::vector<int64_t>{time, batch, input}),
      constant(uniform({directions, width, input}, -1, 1, 2)),
      constant(uniform({directions, width, hidden}, -1, 1, 3)),
      constant(uniform({directions, 2 * width}, -1, 1, 4)),
      absent(),
      uniform(state, -1, 1, 5)};
  if (layer.gates == 4) p.inputs.push_back(uniform(state, -1, 1, 6));
  // Rounding of a step's sums goes through saturating functions into the next step.
  p.terms = 150;
  p.scale = 8;
  p.expect_kernel = layer.kernel;
  p.epilogues = false;
  return p;
}

constexpr Layer kLstm{"lstm", 4, "lstm_f32"}, kGru{"gru", 3, "gru_f32"}, kRnn{"rnn", 1, "rnn_f32"};

TEST(Recurrent, DirectionsAndLayouts) {
  for (const Layer& layer : {kLstm, kGru, kRnn})
    for (const int64_t directions : {1, 2})
      for (const bool batch_first : {false, true}) {
        std::vector<Attribute> attributes;
        if (layer.gates == 3) attributes.emplace_back("linear_before_reset", true);
        Problem p = recurrent(layer, directions, batch_first, attributes);
        p.expect_kernel = "recurrent_input_f32";
        check(p);
      }
}

// The hidden gate's part of R begins inside a panel, at its edge, or in the first one.
TEST(Recurrent, ResetBeforeTheProduct) {
  for (const int64_t hidden : {1, 7, 8, 19, 24, 32})
    for (const bool batch_first : {false, true}) {
      Problem p = recurrent({"gru", 3, "gru_f32", hidden}, 2, batch_first);
      p.expect_kernel = "recurrent_input_f32";
      check(p);
    }
}

TEST(Recurrent, SequencesOfSeveralLengths) {
  for (const Layer& layer : {kLstm, kGru, kRnn})
    for (const int64_t directions : {1, 2})
      for (const DType type : {DType::kI32, DType::kI64}) {
        Problem p = recurrent(layer, directions, type == DType::kI64);
        p.inputs[4] = list({3}, {5, 1, 0}, type);
        p.expect_kernel = "recurrent_input_f32";
        check(p);
        p.inputs[4] = list({3}, {3, 1, 0}, type);  // no sequence has the last two time steps
        check(p);
      }
  Problem p = recurrent(kGru, 1, false, {{"direction", "reverse"}, {"linear_before_reset", true}});
  p.inputs[4] = list({3}, {2, 4, 5}, DType::kI32);
  check(p);
}

// So many units that a time step has a part for each thread.
TEST(Recurrent, PartsOfATimeStep) {
  for (Layer layer :
       {Layer{"lstm", 4, "lstm_f32", 192}, Layer{"gru", 3, "gru_f32", 192}, Layer{"rnn", 1, "rnn_f32", 320}})
    for (const bool lengths : {false, true}) {
      std::vector<Attribute> attributes;
      if (layer.gates == 3) attributes.emplace_back("linear_before_reset", true);
      Problem p = recurrent(layer, 1, false, attributes);
      if (lengths) p.inputs[4] = list({3}, {4, 1, 0}, DType::kI32);
      check(p);
    }
}

// Cells that the kernels have not: their products run on kernels all the same.
TEST(Recurrent, ClippedSumsPeepholesAndOtherFunctions) {
  for (const Layer& layer : {kLstm, kGru, kRnn})
    for (const int64_t directions : {1, 2}) {
      std::vector<std::vector<Attribute>> variants{{{"clip", 0.5}}};
      const char* names[] = {"", "relu", "", "hardsigmoid,softsign", "hardsigmoid,elu,softsign"};
      const std::string each = names[layer.gates];
      variants.push_back({{"activations", directions == 1 ? each : each + "," + each}});
      if (layer.gates == 3) variants.push_back({{"clip", 0.5}, {"linear_before_reset", true}});
      if (layer.gates == 4) variants.push_back({{"input_forget", true}});
      for (const std::vector<Attribute>& attributes : variants) {
        Problem p = recurrent(layer, directions, false, attributes);
        p.inputs[4] = list({3}, {5, 1, 0}, DType::kI32);
        p.expect_kernel = "recurrent_input_f32";
        check(p);
      }
    }
  for (const int64_t directions : {1, 2}) {
    Problem p = recurrent(kLstm, directions, false);
    p.inputs.push_back(constant(uniform({directions, 3 * 19}, -1, 1, 7)));
    p.expect_kernel = "recurrent_input_f32";
    check(p);
  }
}

TEST(Recurrent, DefaultFunctionsByTheirNames) {
  Problem p = recurrent(kLstm, 1, false, {{"activations", "sigmoid,tanh,tanh"}});
  p.expect_kernel = "recurrent_input_f32";
  check(p);
}

// Weights that come at run time have no packed form.
TEST(Recurrent, WeightsThatAreInputs) {
  for (const Layer& layer : {kLstm, kGru, kRnn}) {
    Problem p = recurrent(layer, 1, false);
    p.inputs[1] = uniform({1, layer.gates * 19, 7}, -1, 1, 2);
    p.expect_kernel = "";
    check(p);
  }
}

TEST(Recurrent, OutputsLeftOut) {
  Problem p = recurrent(kLstm, 1, false);
  p.unwanted_outputs = {0, 2};
  p.expect_kernel = "";
  check(p);
}

TEST(Recurrent, OneStepByHand) {
  // One unit, W = R = 1, no bias: h = tanh(x + h).
  check({.op = "rnn",
         .inputs = {list({2, 1, 1}, {0.5, -1}), list({1, 1, 1}, {1}), list({1, 1, 1}, {1})},
         .outputs = 2,
         .expect = {{.numbers = {0.46211716, -0.49138367}}, {.numbers = {-0.49138367}}}});
}

TEST(Recurrent, Refuses) {
  Problem p = recurrent(kLstm, 1, false);
  p.inputs[1] = uniform({1, 76, 8});
  check_error(p, Code::kBadShape);
  p = recurrent(kLstm, 1, false, {{"activations", "sigmoid,tanh"}});
  check_error(p, Code::kBadAttribute);
  p = recurrent(kRnn, 1, false);
  for (const double length : {-1, 6}) {
    p.inputs[4] = list({3}, {1, 2, length}, DType::kI32);
    check_error(p, Code::kBadValue);
  }
}

TEST(Recurrent, RefusesOperandsOfOtherSizes) {
  const struct {
    size_t input;
    std::vector<int64_t> dims;
    Code code;
  } kWrong[] = {{3, {1, 152}, Code::kBadShape},     {3, {152}, Code::kBadRank},
                {4, {2}, Code::kBadShape},          {4, {}, Code::kBadRank},
                {5, {1, 1, 1}, Code::kBadShape},    {5, {}, Code::kBadRank},
                {5, {2, 3, 1, 19}, Code::kBadRank}, {6, {2, 1, 19}, Code::kBadShape},
                {7, {1, 114}, Code::kBadShape}};
  for (const auto& wrong : kWrong) {
    Problem p = recurrent(kLstm, 2, false);
    p.inputs.resize(8, absent());
    p.inputs[wrong.input] = uniform(wrong.dims, 1, 2, 7, wrong.input == 4 ? DType::kI32 : DType::kF32);
    check_error(p, wrong.code);
  }
}

}  // namespace
}  // namespace mica::suite
