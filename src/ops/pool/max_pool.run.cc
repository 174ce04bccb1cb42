#include "ops/pool/pool.h"
#include "ops/pool/pool_step.h"

namespace mica {
namespace {

Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<MaxPool>();
  if (scope.outputs.size() > 1 && scope.output(1).present) return false;  // where the maximum stands
  PoolProblem problem{.kind = PoolKind::kMax};
  MICA_TRY(const Window window, fixed_window(a.window(), scope.whole_input().shape().subspan(2), a.kernel.span()));
  if (!pool::set_window(problem, window)) return false;
  const DType dtype = scope.input(0).view.dtype;
  if (dtype == DType::kU8 || dtype == DType::kI8) return pool::bind_pool_8bit(scope, problem, "max_pool_8bit");
  return pool::bind_pool(scope, problem, "max_pool_f32");
}

bool rows(const BindScope& scope, RowWindow& window) {
  const auto& a = scope.attributes<MaxPool>();
  return pool::rows(scope, a.window(), a.kernel.span(), window);
}

}  // namespace

MICA_RUN(max_pool) = {.bind = bind, .rows = rows};

}  // namespace mica
