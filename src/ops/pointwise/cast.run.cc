#include "ops/pointwise/cast.h"
#include "step/typed.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const DType from = scope.input(0).view.dtype, to = scope.attributes<Cast>().to;
  return bind_typed(scope, {.function = TypedFunction::kConvert, .from = from, .to = to});
}

}  // namespace

MICA_RUN(cast) = {.bind = bind};

}  // namespace mica
