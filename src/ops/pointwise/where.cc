#include "ops/pointwise/broadcast.h"

namespace mica {
namespace {

// Known elements choose among dimensions too: exported models pick sizes with it.
Status infer_values(InferScope& scope, const Shape& shape) {
  Ints choose;
  std::span<const Dim> x, y;
  if (!scope.ints(0, choose) || !scope.known_dims(1, x) || !scope.known_dims(2, y) || shape.rank > 1) return {};
  const size_t count = shape.rank == 0 ? 1 : shape[0].is_fixed() ? static_cast<size_t>(shape[0].value()) : 0;
  Dims out;
  const auto at = [](size_t i, size_t size) { return size == 1 ? 0 : i; };
  for (size_t i = 0; i < count; ++i)
    if (!out.push(choose[at(i, choose.size())] ? x[at(i, x.size())] : y[at(i, y.size())])) return {};
  return count ? scope.set_values(0, out.span()) : Status();
}

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  MICA_TRY_STATUS(require_tensor(scope, 1));
  MICA_TRY_STATUS(require_tensor(scope, 2));
  MICA_CHECK(scope.dtype(0) == DType::kBool, kBadType, "the condition must be bool, not {}", name_of(scope.dtype(0)));
  MICA_TRY_STATUS(require_same_dtype(scope, 1, 2));
  MICA_TRY(Shape two, broadcast(scope.shape(1), scope.shape(2), scope.dims()));
  MICA_TRY(Shape shape, broadcast(scope.shape(0), two, scope.dims()));
  scope.out(0, scope.dtype(1), shape);
  return infer_values(scope, shape);
}

Status reference(RunScope& scope) {
  MICA_TRY_STATUS(pointwise::allocate_broadcast(scope, 3));
  const Elements condition(scope.in(0));
  return pointwise::for_each_broadcast(
      scope, 3, [&](const int64_t* o, const int64_t* c, const int64_t* i, const int64_t* j) {
        const bool first = condition.integer_at(c) != 0;
        pointwise::move_element(scope.in(first ? 1 : 2), first ? i : j, scope.out(0), o);
      });
}

}  // namespace

MICA_OP(where) = {.name = "where",
                  .doc = "elements of input 1 where input 0 is true, else of input 2",
                  .inputs = {3, 3},
                  .infer = infer,
                  .reference = reference,
                  .layout = LayoutRule::kAny};

}  // namespace mica
