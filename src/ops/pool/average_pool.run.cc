#include "ops/pool/pool.h"
#include "ops/pool/pool_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<AveragePool>();
  PoolProblem problem{.kind = PoolKind::kAverage};
  problem.count_padding = a.count_include_pad;
  MICA_TRY(const Window window, fixed_window(a.window(), scope.whole_input().shape().subspan(2), a.kernel.span()));
  if (!pool::set_window(problem, window)) return false;
  return pool::bind_pool(scope, problem, "average_pool_f32");
}

bool rows(const BindScope& scope, RowWindow& window) {
  const auto& a = scope.attributes<AveragePool>();
  return pool::rows(scope, a.window(), a.kernel.span(), window);
}

}  // namespace

MICA_RUN(average_pool) = {.bind = bind, .rows = rows};

}  // namespace mica
