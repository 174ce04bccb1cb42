#include "ops/move/shape.h"

#include <algorithm>

#include "types/operand.h"

namespace mica {
namespace {

struct Range {
  int begin, count;
};
Range range_of(const ShapeOf& attributes, int rank) {
  const auto clamp = [&](int64_t at) {
    return static_cast<int>(std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank));
  };
  const int begin = clamp(attributes.start), end = clamp(attributes.end);
  return {begin, std::max(0, end - begin)};
}

Status infer(InferScope& scope) {
  const Shape& in = scope.shape(0);
  if (!in.known()) {
    scope.out(0, DType::kI64, Shape{scope.dims().fresh("rank")});
    return {};
  }
  const Range range = range_of(scope.attributes<ShapeOf>(), in.rank);
  scope.out(0, DType::kI64, Shape{range.count});
  return scope.set_values(0, in.span().subspan(static_cast<size_t>(range.begin), static_cast<size_t>(range.count)));
}

Status reference(RunScope& scope) {
  const TensorView& in = scope.in(0);
  const Range range = range_of(scope.attributes<ShapeOf>(), in.rank);
  const int64_t count = range.count;
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(&count, 1)));
  const Elements out(scope.out(0));
  for (int i = 0; i < range.count; ++i) out.set_integer(i, in.dim(range.begin + i));
  return {};
}

}  // namespace

MICA_OP(shape) = {.name = "shape",
                  .doc = "The dimensions of the input as integers",
                  .attributes = attr_class<ShapeOf>(),
                  .infer = infer,
                  .reference = reference,
                  .flops = [](const CostScope&) -> int64_t { return 0; },
                  .layout = LayoutRule::kAny};

}  // namespace mica
