#include "ops/pointwise/is_inf.h"

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
  const auto& attributes = scope.attributes<IsInf>();
  const Elements x(scope.in(0)), out(scope.out(0));
  return pointwise::for_each_broadcast(
      scope, 1, [&](const int64_t* o, const int64_t* i, const int64_t*, const int64_t*) {
        const double value = x.number_at(i);
        out.set_integer_at(o, std::isinf(value) && (value > 0 ? attributes.positive : attributes.negative));
      });
}

}  // namespace

MICA_OP(is_inf) = {.name = "is_inf",
                   .doc = "which elements are infinite, bool",
                   .attributes = attr_class<IsInf>(),
                   .infer = infer,
                   .reference = reference,
                   .layout = LayoutRule::kAny};

}  // namespace mica
