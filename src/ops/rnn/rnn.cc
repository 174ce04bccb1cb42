#include "ops/rnn/recurrent.h"

namespace mica {
namespace {

constexpr rnn::Function kDefaults[] = {rnn::Function::kTanh};

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<Recurrent>();
  MICA_TRY_STATUS(rnn::check_activations(a, kDefaults));
  return rnn::infer(scope, a, 1, false);
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Recurrent>();
  MICA_TRY(const rnn::Activations functions, rnn::activations_of(a, kDefaults));
  MICA_TRY(rnn::Problem q, rnn::problem_of(scope, a, 1, false));
  MICA_TRY(double* next, zero_numbers(scope, q.hidden));
  return rnn::run(scope, q, [&](const rnn::Step& s) {
    const rnn::Activation& f = *functions.of(s.direction, 1);
    for (int64_t i = 0; i < q.hidden; ++i) next[i] = f(q.clipped(s.x_sums[i] + rnn::recurrent_sum(q, s, s.h, i)));
    std::copy_n(next, q.hidden, s.h);
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
