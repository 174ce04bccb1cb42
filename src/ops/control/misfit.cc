// What stands for a branch whose operators do not fit the sizes of its operands: an error as soon as it is taken.
#include "ops/control/misfit.h"

#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<Misfit>();
  Shape shape;
  if (a.ranked) {
    MICA_CHECK(a.shape.size() <= static_cast<size_t>(kMaxRank), kBadAttribute, "{} dimensions", a.shape.size());
    shape = Shape::of_rank(static_cast<int>(a.shape.size()));
    for (size_t i = 0; i < a.shape.size(); ++i)
      shape[static_cast<int>(i)] = a.shape[i] < 0 ? scope.dims().fresh("any") : Dim(a.shape[i]);
  }
  scope.out(0, a.dtype, shape);
  return {};
}

Status reference(RunScope& scope) {
  return error(Code::kBadShape, "this branch of the model does not fit the sizes of its inputs: {}",
               scope.attributes<Misfit>().reason.view());
}

}  // namespace

// Not a function of its operands alone, so that nobody runs it ahead of time.
MICA_OP(misfit) = {.name = "misfit",
                   .doc = "fails when it runs: a branch whose operators do not fit the sizes of its operands",
                   .inputs = {0, 0},
                   .attributes = attr_class<Misfit>(),
                   .infer = infer,
                   .reference = reference,
                   .random = true,
                   .takes_objects = true};

}  // namespace mica
