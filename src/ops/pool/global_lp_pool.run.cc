#include "ops/pool/global_pool.h"
#include "ops/pool/pool_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const int64_t p = scope.attributes<GlobalLpPool>().p;
  if (p != 1 && p != 2) return false;
  PoolProblem problem{.kind = p == 1 ? PoolKind::kL1 : PoolKind::kL2};
  if (!pool::set_global(problem, scope.input(0).view)) return false;
  return pool::bind_pool(scope, problem, "global_lp_pool_f32");
}

}  // namespace

MICA_RUN(global_lp_pool) = {.bind = bind};

}  // namespace mica
