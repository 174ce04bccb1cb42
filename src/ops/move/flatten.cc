#include "ops/move/flatten.h"

#include "ops/move/view.h"

namespace mica {
namespace {

Result<Shape> flattened(const Shape& in, int64_t axis, DimTable& dims) {
  MICA_CHECK(axis >= -in.rank && axis <= in.rank, kBadAttribute, "axis {} is outside [{}, {}]", axis, -in.rank,
             in.rank);
  const auto split = static_cast<size_t>(axis < 0 ? axis + in.rank : axis);
  return Shape{dims.product(in.span().first(split)), dims.product(in.span().subspan(split))};
}

Status infer(InferScope& scope) {
  if (!scope.shape(0).known()) {
    scope.out(0, scope.dtype(0), Shape{scope.dims().fresh("flatten"), scope.dims().fresh("flatten")});
    return {};
  }
  MICA_TRY(const Shape out, flattened(scope.shape(0), scope.attributes<Flatten>().axis, scope.dims()));
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  DimTable dims;
  MICA_TRY(const Shape out, flattened(scope.in(0).to_shape(), scope.attributes<Flatten>().axis, dims));
  MICA_TRY_STATUS(allocate_output(scope, 0, out, dims));
  return move::copy_reshaped(scope);
}

}  // namespace

MICA_OP(flatten) = {.name = "flatten",
                    .doc = "A matrix: the axes before `axis` as its rows, the others as its columns",
                    .attributes = attr_class<Flatten>(),
                    .infer = infer,
                    .reference = reference,
                    .flops = [](const CostScope&) -> int64_t { return 0; },
                    .view = move::view_reshaped,
                    .dim_rule = DimRule::kMove};

}  // namespace mica
