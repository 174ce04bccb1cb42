#include "ops/move/transpose.h"
#include "step/copy_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope)) return false;
  move::Side from = move::input_side(scope, 0);
  MICA_TRY(const Ints order, axis_order(scope.attributes<Transpose>(), from.view.rank));
  from.view = permute_axes(from.view, order.span());
  MICA_TRY_STATUS(move::add_copy_step(scope, from, move::output_side(scope, 0)));
  return true;
}

}  // namespace

MICA_RUN(transpose) = {.bind = bind};

}  // namespace mica
