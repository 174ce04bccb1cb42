#include "ops/rnn/recurrent_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<Gru>();
  return rnn::bind_recurrent(scope, a, a.linear_before_reset ? rnn::Cell::kGru : rnn::Cell::kGruResetFirst, "gru_f32");
}

}  // namespace

MICA_RUN(gru) = {.bind = bind};

}  // namespace mica
