#include <cmath>

#include "ops/pointwise/broadcast.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  scope.out(0, DType::kBool, scope.shape(0));
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY_STATUS(scope.allocate_output(0, scope.in(0).shape()));
  const Elements x(scope.in(0)), out(scope.out(0));
  return pointwise::for_each_broadcast(scope, 1,
                                       [&](const int64_t* o, const int64_t* i, const int64_t*, const int64_t*) {
                                         out.set_integer_at(o, std::isnan(x.number_at(i)));
                                       });
}

}  // namespace

MICA_OP(is_nan) = {.name = "is_nan",
                   .doc = "which elements are NaN, bool",
                   .infer = infer,
                   .reference = reference,
                   .layout = LayoutRule::kAny};

}  // namespace mica
