#include "ops/pool/global_pool.h"
#include "ops/pool/pool_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  PoolProblem problem{.kind = PoolKind::kAverage};
  if (!pool::set_global(problem, scope.input(0).view)) return false;
  return pool::bind_pool(scope, problem, "global_average_pool_f32");
}

bool takes_row_means(const BindScope&) { return true; }

}  // namespace

MICA_RUN(global_average_pool) = {.bind = bind, .takes_row_means = takes_row_means};

}  // namespace mica
