#include "step/copy_step.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope)) return false;
  move::Side from = move::input_side(scope, 0);
  const move::Side to = move::output_side(scope, 0);
  const TensorView in = from.view;
  const int added = to.view.rank - in.rank;
  from.view.rank = to.view.rank;
  for (int i = 0; i < to.view.rank; ++i) {
    const bool repeated = i < added || in.dim(i - added) != to.view.dim(i);
    from.view.dims[static_cast<size_t>(i)] = to.view.dim(i);
    from.view.strides[static_cast<size_t>(i)] = repeated ? 0 : in.stride(i - added);
  }
  MICA_TRY_STATUS(move::add_copy_step(scope, from, to));
  return true;
}

}  // namespace

MICA_RUN(expand) = {.bind = bind};

}  // namespace mica
