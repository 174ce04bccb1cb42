#include "step/typed.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const DType dtype = scope.input(0).view.dtype;
  return bind_typed(scope, {.function = TypedFunction::kEqual, .from = dtype, .to = dtype, .inputs = 2});
}

}  // namespace

MICA_RUN(equal) = {.bind = bind};

}  // namespace mica
