#include "step/typed.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const DType dtype = scope.input(1).view.dtype;
  return bind_typed(scope, {.function = TypedFunction::kWhere, .from = dtype, .to = dtype, .inputs = 3});
}

}  // namespace

MICA_RUN(where) = {.bind = bind};

}  // namespace mica
