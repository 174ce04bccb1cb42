#include "step/copy_step.h"

namespace mica {
namespace {

// The output's axes, each as repeats of the input's; a repeat reads the same elements again.
MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope)) return false;
  const move::Side from = move::input_side(scope, 0), to = move::output_side(scope, 0);
  CopyAxis axes[2 * kMaxRank];
  for (int i = 0; i < to.view.rank; ++i) {
    const int64_t size = from.view.dim(i), step = to.view.stride(i);
    axes[2 * i] = {size ? to.view.dim(i) / size : 0, 0, step * size};
    axes[2 * i + 1] = {size, from.view.stride(i), step};
  }
  const CopyPlan plan = plan_copy(axes, 2 * to.view.rank, element_bytes(to.view.dtype));
  MICA_TRY_STATUS(move::add_plan(scope, plan, from, to));
  return true;
}

}  // namespace

MICA_RUN(tile) = {.bind = bind};

}  // namespace mica
