#include "ops/rnn/recurrent_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<Recurrent>();
  return rnn::bind_recurrent(scope, a, rnn::Cell::kTanh, "rnn_f32");
}

}  // namespace

MICA_RUN(rnn) = {.bind = bind};

}  // namespace mica
