#include "ops/rnn/recurrent_step.h"

namespace mica {
namespace {

Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<Gru>();
  if (!a.linear_before_reset) return false;
  return rnn::bind_recurrent(scope, a, rnn::Cell::kGru, "gru_f32");
}

}  // namespace

MICA_RUN(gru) = {.bind = bind};

}  // namespace mica
