#include "ops/pool/global_pool.h"
#include "ops/pool/pool_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  PoolProblem problem{.kind = PoolKind::kMax};
  if (!pool::set_global(problem, scope.input(0).view)) return false;
  return pool::bind_pool(scope, problem, "global_max_pool_f32");
}

}  // namespace

MICA_RUN(global_max_pool) = {.bind = bind};

}  // namespace mica
