#include <cmath>

#include "ops/pointwise/broadcast.h"
#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_DECLARE_OP(pow);

namespace {

// The exponent may have another type than the base, whose type the result has.
Status infer(InferScope& scope) {
  MICA_TRY_STATUS(pointwise::require_number(scope, 0));
  MICA_TRY_STATUS(pointwise::require_number(scope, 1));
  MICA_TRY(Shape shape, broadcast(scope.shape(0), scope.shape(1), scope.dims()));
  scope.out(0, scope.dtype(0), shape);
  return {};
}

Status reference(RunScope& scope) {
  const bool whole = !is_float(scope.in(0).dtype), whole_exponent = !is_float(scope.in(1).dtype);
  if (scope.in(0).dtype == scope.in(1).dtype) return reference_pointwise(scope, op_pow);
  MICA_TRY_STATUS(pointwise::allocate_broadcast(scope, 2));
  const Elements x(scope.in(0)), y(scope.in(1)), out(scope.out(0));
  const bool is_unsigned = kind_of(scope.in(0).dtype) == NumberKind::kUnsigned;
  return pointwise::for_each_broadcast(
      scope, 2, [&](const int64_t* o, const int64_t* i, const int64_t* j, const int64_t*) {
        if (whole && whole_exponent) {
          // A negative exponent must stay negative when the base is unsigned.
          const bool unsigned_exponent = kind_of(scope.in(1).dtype) == NumberKind::kUnsigned;
          const int64_t base = x.integer_at(i), exponent = y.integer_at(j);
          out.set_integer_at(
              o, apply_int(Pointwise::kPow, base, exponent, is_unsigned && (unsigned_exponent || exponent >= 0)));
        } else {
          out.set_number_at(o, std::pow(x.number_at(i), y.number_at(j)));
        }
      });
}

}  // namespace

MICA_OP(pow) = {.name = "pow",
                .doc = "x to the power y, in the type of x",
                .inputs = {2, 2},
                .infer = infer,
                .reference = reference,
                .layout = LayoutRule::kAny,
                .pointwise = Pointwise::kPow,
                .in_place = true};

}  // namespace mica
