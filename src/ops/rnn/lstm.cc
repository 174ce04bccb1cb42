#include "ops/rnn/recurrent.h"

namespace mica {
namespace {

constexpr rnn::Function kDefaults[] = {rnn::Function::kSigmoid, rnn::Function::kTanh, rnn::Function::kTanh};

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<Lstm>();
  MICA_TRY_STATUS(rnn::check_activations(a, kDefaults));
  return rnn::infer(scope, a, 4, true);
}

// Gates stand in the order input, output, forget, cell; peepholes input, output, forget.
Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Lstm>();
  MICA_TRY(const rnn::Activations functions, rnn::activations_of(a, kDefaults));
  MICA_TRY(rnn::Problem q, rnn::problem_of(scope, a, 4, true));
  const int64_t hidden = q.hidden;
  MICA_TRY(double* gates, zero_numbers(scope, 4 * hidden));
  return rnn::run(scope, q, [&](const rnn::Step& s) {
    const rnn::Activation* f = functions.of(s.direction, 3);
    for (int64_t row = 0; row < 4 * hidden; ++row) gates[row] = s.x_sums[row] + rnn::recurrent_sum(q, s, s.h, row);
    for (int64_t i = 0; i < hidden; ++i) {
      const double input = f[0](q.clipped(gates[i] + s.p[i] * s.c[i]));
      const double forget =
          a.input_forget ? 1 - input : f[0](q.clipped(gates[2 * hidden + i] + s.p[2 * hidden + i] * s.c[i]));
      s.c[i] = forget * s.c[i] + input * f[1](q.clipped(gates[3 * hidden + i]));
      const double output = f[0](q.clipped(gates[hidden + i] + s.p[hidden + i] * s.c[i]));
      s.h[i] = output * f[2](q.clipped(s.c[i]));
    }
  });
}

}  // namespace

MICA_OP(lstm) = {
    .name = "lstm",
    .doc =
        "long short-term memory; inputs x, W, R (gates input, output, forget, cell), B, lengths, h, c, peepholes; "
        "outputs all h, the last h, the last c",
    .inputs = {3, 8},
    .outputs = {1, 3},
    .attributes = attr_class<Lstm>(),
    .infer = infer,
    .reference = reference,
    .flops = rnn::flops};

}  // namespace mica
