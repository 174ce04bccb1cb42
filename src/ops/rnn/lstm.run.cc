#include "ops/rnn/recurrent_step.h"

namespace mica {
namespace {

Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<Lstm>();
  if (a.input_forget) return false;
  return rnn::bind_recurrent(scope, a, rnn::Cell::kLstm, "lstm_f32");
}

}  // namespace

MICA_RUN(lstm) = {.bind = bind};

}  // namespace mica
