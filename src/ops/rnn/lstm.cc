#include "ops/rnn/cells.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<Lstm>();
  MICA_TRY_STATUS(rnn::check_activations(a, rnn::kLstmFunctions));
  return rnn::infer(scope, a, 4, true);
}

// Gates stand in the order input, output, forget, cell; peepholes input, output, forget.
Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Lstm>();
  MICA_TRY(const rnn::Activations functions, rnn::activations_of(a, rnn::kLstmFunctions));
  MICA_TRY(rnn::Problem q, rnn::problem_of(scope, a, 4, true));
  const int64_t hidden = q.hidden;
  MICA_TRY(double* gates, zero_numbers(scope, 4 * hidden));
  return rnn::run(scope, q, [&](const rnn::Step& s) {
    const rnn::CellRules rules{functions.of(s.direction, 3), hidden, q.clip, a.input_forget};
    for (int64_t row = 0; row < 4 * hidden; ++row) gates[row] = s.x_sums[row] + rnn::recurrent_sum(q, s, s.h, row);
    rnn::lstm_cell(rules, gates, s.p, q.c + s.cell, s.h);
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
