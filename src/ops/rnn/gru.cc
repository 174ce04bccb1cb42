#include "ops/rnn/cells.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<Gru>();
  MICA_TRY_STATUS(rnn::check_activations(a, rnn::kGruFunctions));
  return rnn::infer(scope, a, 3, false);
}

// Gates stand in the order update, reset, hidden.
Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Gru>();
  MICA_TRY(const rnn::Activations functions, rnn::activations_of(a, rnn::kGruFunctions));
  MICA_TRY(rnn::Problem q, rnn::problem_of(scope, a, 3, false));
  const int64_t hidden = q.hidden;
  MICA_TRY(double* gates, zero_numbers(scope, 2 * hidden));
  MICA_TRY(double* state, zero_numbers(scope, hidden));
  MICA_TRY(double* candidates, zero_numbers(scope, hidden));
  return rnn::run(scope, q, [&](const rnn::Step& s) {
    const rnn::CellRules rules{functions.of(s.direction, 2), hidden, q.clip};
    const double* reset = gates + hidden;
    for (int64_t row = 0; row < 2 * hidden; ++row) gates[row] = s.x_sums[row] + rnn::recurrent_sum(q, s, s.h, row);
    rnn::gru_gates(rules, gates);
    for (int64_t i = 0; i < hidden; ++i) state[i] = a.linear_before_reset ? s.h[i] : reset[i] * s.h[i];
    for (int64_t i = 0; i < hidden; ++i)
      candidates[i] = s.x_sums[2 * hidden + i] +
                      rnn::recurrent_sum(q, s, state, 2 * hidden + i) * (a.linear_before_reset ? reset[i] : 1);
    rnn::gru_blend(rules, static_cast<const double*>(gates), candidates, s.h);
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
