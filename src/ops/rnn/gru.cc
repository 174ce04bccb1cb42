#include "ops/rnn/recurrent.h"

namespace mica {
namespace {

constexpr rnn::Function kDefaults[] = {rnn::Function::kSigmoid, rnn::Function::kTanh};

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<Gru>();
  MICA_TRY_STATUS(rnn::check_activations(a, kDefaults));
  return rnn::infer(scope, a, 3, false);
}

// Gates stand in the order update, reset, hidden.
Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Gru>();
  MICA_TRY(const rnn::Activations functions, rnn::activations_of(a, kDefaults));
  MICA_TRY(rnn::Problem q, rnn::problem_of(scope, a, 3, false));
  const int64_t hidden = q.hidden;
  MICA_TRY(double* update, zero_numbers(scope, hidden));
  MICA_TRY(double* reset, zero_numbers(scope, hidden));
  MICA_TRY(double* state, zero_numbers(scope, hidden));
  return rnn::run(scope, q, [&](const rnn::Step& s) {
    const rnn::Activation* f = functions.of(s.direction, 2);
    for (int64_t i = 0; i < hidden; ++i) {
      update[i] = f[0](q.clipped(s.x_sums[i] + rnn::recurrent_sum(q, s, s.h, i)));
      reset[i] = f[0](q.clipped(s.x_sums[hidden + i] + rnn::recurrent_sum(q, s, s.h, hidden + i)));
    }
    for (int64_t i = 0; i < hidden; ++i) state[i] = a.linear_before_reset ? s.h[i] : reset[i] * s.h[i];
    for (int64_t i = 0; i < hidden; ++i) {
      const double sum = rnn::recurrent_sum(q, s, state, 2 * hidden + i) * (a.linear_before_reset ? reset[i] : 1);
      const double next = f[1](q.clipped(s.x_sums[2 * hidden + i] + sum));
      s.h[i] = (1 - update[i]) * next + update[i] * s.h[i];
    }
  });
}

}  // namespace

MICA_OP(gru) = {
    .name = "gru",
    .doc =
        "gated recurrent unit; inputs x, W, R (gates update, reset, hidden), B, lengths, h; outputs all h, the last h",
    .inputs = {3, 6},
    .outputs = {1, 2},
    .attributes = attr_class<Gru>(),
    .infer = infer,
    .reference = reference,
    .flops = rnn::flops};

}  // namespace mica
