// Each input is copied into its slice of the output.
#include "ops/move/concat.h"

#include "step/copy_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope)) return false;
  const move::Side whole = move::output_side(scope, 0);
  MICA_TRY(const int axis, normalize_axis(scope.attributes<Concat>().axis, whole.view.rank));
  int64_t at = 0;
  for (int i = 0; i < static_cast<int>(scope.inputs.size()); ++i) {
    const move::Side part = move::input_side(scope, i);
    const int64_t length = part.view.dim(axis);
    MICA_TRY_STATUS(move::add_copy_step(scope, part, move::part_of(whole, axis, at, length)));
    at += length;
  }
  return true;
}

}  // namespace

MICA_RUN(concat) = {.bind = bind};

}  // namespace mica
