#include "step/typed.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const DType dtype = scope.input(0).view.dtype;
  return bind_typed(scope, {.function = TypedFunction::kGreaterOrEqual, .from = dtype, .to = dtype, .inputs = 2});
}

}  // namespace

MICA_RUN(greater_or_equal) = {.bind = bind};

}  // namespace mica
