#include "ops/norm/instance_norm.h"
#include "ops/norm/norm_run.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  return norm::bind_groups(scope, scope.input(0).view.dim(1), scope.attributes<InstanceNorm>().epsilon, false);
}

}  // namespace

MICA_RUN(instance_norm) = {.bind = bind};

}  // namespace mica
