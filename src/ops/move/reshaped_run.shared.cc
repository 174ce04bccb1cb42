#include "ops/move/reshaped_run.h"

namespace mica::move {

Result<bool> bind_reshaped(BindScope& scope) {
  Side from = input_side(scope, 0), to = output_side(scope, 0);
  if (!can_copy(scope)) return false;
  TensorView same;
  if (reshape_view(from.view, to.view.shape(), same))
    from.view = same;
  else if (reshape_view(to.view, from.view.shape(), same))
    to.view = same;
  else
    return false;
  MICA_TRY_STATUS(add_copy_step(scope, from, to));
  return true;
}

}  // namespace mica::move
