#include "ops/norm/layer_norm.h"
#include "ops/norm/norm_run.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<LayerNorm>();
  return norm::bind_rows(scope, a.axis, a.epsilon, true);
}

}  // namespace

MICA_RUN(layer_norm) = {.bind = bind};

}  // namespace mica
