#include "ops/move/blocks.h"
#include "step/copy_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope)) return false;
  const auto& attributes = scope.attributes<BlockMove>();
  move::Side from = move::input_side(scope, 0), to = move::output_side(scope, 0);
  if (to.view.empty()) return true;
  from.view = move::wide_blocks(from.view, attributes.block);
  to.view = move::deep_blocks(to.view, attributes);
  MICA_TRY_STATUS(move::add_copy_step(scope, from, to));
  return true;
}

}  // namespace

MICA_RUN(space_to_depth) = {.bind = bind};

}  // namespace mica
