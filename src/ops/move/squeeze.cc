#include "ops/move/view.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const Shape& in = scope.shape(0);
  const auto unknown = [&] {
    scope.out(0, scope.dtype(0), Shape());
    return Status();
  };
  if (!in.known()) return unknown();
  Ints axes;
  MICA_TRY(const bool known, axes_operand(scope, 1, in.rank, axes));
  if (!known) return unknown();
  bool drop[kMaxRank] = {};
  for (int64_t axis : axes) {
    const Dim d = in[static_cast<int>(axis)];
    if (!scope.has(1) && !d.is_fixed()) return unknown();  // whether it is 1 decides the rank
    MICA_CHECK(!scope.has(1) || !d.is_fixed() || d.is(1), kBadShape, "axis {} to squeeze has {} elements, not 1", axis,
               d.value());
    drop[axis] = scope.has(1) || d.is(1);
  }
  Shape out = Shape::of_rank(0);
  for (int i = 0; i < in.rank; ++i)
    if (!drop[i]) out.push(in[i]);
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& in = scope.in(0);
  bool drop[kMaxRank] = {};
  if (scope.has(1)) {
    MICA_TRY(Ints axes, read_ints(scope.in(1), "axes"));
    MICA_TRY_STATUS(normalize_axes(axes, in.rank));
    for (int64_t axis : axes) {
      MICA_CHECK(in.dim(static_cast<int>(axis)) == 1, kBadShape, "axis {} to squeeze has {} elements, not 1", axis,
                 in.dim(static_cast<int>(axis)));
      drop[axis] = true;
    }
  } else {
    for (int i = 0; i < in.rank; ++i) drop[i] = in.dim(i) == 1;
  }
  Shape out = Shape::of_rank(0);
  for (int i = 0; i < in.rank; ++i)
    if (!drop[i]) out.push(in.dim(i));
  MICA_TRY_STATUS(allocate_output(scope, 0, out, DimTable()));
  return move::copy_reshaped(scope);
}

}  // namespace

MICA_OP(squeeze) = {.name = "squeeze",
                    .doc = "Removes the axes of one element that input 1 lists, or all of them",
                    .inputs = {1, 2},
                    .infer = infer,
                    .reference = reference,
                    .flops = [](const CostScope&) -> int64_t { return 0; },
                    .view = move::view_reshaped,
                    .dim_rule = DimRule::kMove};

}  // namespace mica
