#include "ops/rnn/recurrent_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<Lstm>();
  return rnn::bind_recurrent(scope, a, rnn::Cell::kLstm, "lstm_f32", a.input_forget);
}

}  // namespace

MICA_RUN(lstm) = {.bind = bind};

}  // namespace mica
