#include "ops/move/slice.h"

#include "step/copy_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope)) return false;
  const TensorView* operands[4];
  for (int i = 0; i < 4; ++i) {
    const BoundOperand& operand = scope.input(i + 1);
    if (operand.present && !operand.constant) return false;
    operands[i] = operand.present ? &operand.view : nullptr;
  }
  move::Side from = move::input_side(scope, 0);
  MICA_TRY(const SliceCut cut, slice_cut(from.view, {operands[0], operands[1], operands[2], operands[3]}));
  for (int i = 0; i < from.view.rank; ++i) from = move::part_of(from, i, cut.begin[i], cut.length[i], cut.step[i]);
  MICA_TRY_STATUS(move::add_copy_step(scope, from, move::output_side(scope, 0)));
  return true;
}

}  // namespace

MICA_RUN(slice) = {.bind = bind};

}  // namespace mica
