#include "ops/move/split.h"

#include "step/copy_step.h"

namespace mica {
namespace {

// The length of part i when no output tells it.
Result<int64_t> part_length(const BindScope& scope, int64_t whole, int i) {
  const BoundOperand& sizes = scope.input(1);
  if (!sizes.present) {
    const int64_t parts = scope.attributes<Split>().parts, each = (whole + parts - 1) / parts;
    return i + 1 < parts ? each : whole - each * (parts - 1);
  }
  MICA_CHECK(sizes.constant, kInternal, "a part that nobody uses has no length");
  return Elements(sizes.view).integer(i);
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope)) return false;
  const move::Side whole = move::input_side(scope, 0);
  MICA_TRY(const int axis, normalize_axis(scope.attributes<Split>().axis, whole.view.rank));
  int64_t at = 0;
  for (int i = 0; i < static_cast<int>(scope.outputs.size()); ++i) {
    if (!scope.output(i).present) {
      if (scope.has(1) && !scope.input(1).constant) return false;
      MICA_TRY(const int64_t length, part_length(scope, whole.view.dim(axis), i));
      at += length;
      continue;
    }
    const move::Side part = move::output_side(scope, i);
    const int64_t length = part.view.dim(axis);
    MICA_TRY_STATUS(move::add_copy_step(scope, move::part_of(whole, axis, at, length), part));
    at += length;
  }
  return true;
}

}  // namespace

MICA_RUN(split) = {.bind = bind};

}  // namespace mica
