#include "ops/norm/group_norm.h"
#include "ops/norm/norm_run.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<GroupNorm>();
  return norm::bind_groups(scope, a.groups, a.epsilon, a.per_group);
}

}  // namespace

MICA_RUN(group_norm) = {.bind = bind};

}  // namespace mica
