#include "step/copy_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope)) return false;
  MICA_TRY_STATUS(move::add_copy_step(scope, move::input_side(scope, 0), move::output_side(scope, 0)));
  return true;
}

}  // namespace

MICA_RUN(copy) = {.bind = bind};

}  // namespace mica
