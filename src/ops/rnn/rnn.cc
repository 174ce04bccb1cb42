#include "ops/rnn/cells.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<Recurrent>();
  MICA_TRY_STATUS(rnn::check_activations(a, rnn::kRnnFunctions));
  return rnn::infer(scope, a, 1, false);
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Recurrent>();
  MICA_TRY(const rnn::Activations functions, rnn::activations_of(a, rnn::kRnnFunctions));
  MICA_TRY(rnn::Problem q, rnn::problem_of(scope, a, 1, false));
  MICA_TRY(double* sums, zero_numbers(scope, q.hidden));
  return rnn::run(scope, q, [&](const rnn::Step& s) {
    for (int64_t i = 0; i < q.hidden; ++i) sums[i] = s.x_sums[i] + rnn::recurrent_sum(q, s, s.h, i);
    rnn::simple_cell({functions.of(s.direction, 1), q.hidden, q.clip}, static_cast<const double*>(sums), s.h);
  });
}

}  // namespace

MICA_OP(rnn) = {.name = "rnn",
                .doc = "simple recurrent layer; inputs x, W, R, B, lengths, h; outputs all h, the last h",
                .inputs = {3, 6},
                .outputs = {1, 2},
                .attributes = attr_class<Recurrent>(),
                .infer = infer,
                .reference = reference,
                .flops = rnn::flops};

}  // namespace mica
