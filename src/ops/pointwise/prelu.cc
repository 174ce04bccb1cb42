#include "ops/pointwise/pointwise_op.h"

namespace mica {
namespace {

// The slope broadcasts to x, not the other way round.
Status infer(InferScope& scope) {
  MICA_TRY_STATUS(pointwise::require_number(scope, 0));
  MICA_TRY_STATUS(require_tensor(scope, 1));
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 1));
  MICA_TRY(Shape shape, broadcast(scope.shape(0), scope.shape(1), scope.dims()));
  const Shape& x = scope.shape(0);
  if (shape.known() && x.fixed() && shape.fixed())
    MICA_CHECK(shape == x, kBadShape, "the slope does not broadcast to the shape of the input");
  scope.out(0, scope.dtype(0), x.known() ? x : shape);
  return {};
}

}  // namespace

MICA_OP(prelu) = {.name = "prelu",
                  .doc = "x, or x * slope below 0",
                  .inputs = {2, 2},
                  .infer = infer,
                  .reference = pointwise::refer<op_prelu>,
                  .layout = LayoutRule::kAny,
                  .pointwise = Pointwise::kPrelu,
                  .in_place = true};

}  // namespace mica
