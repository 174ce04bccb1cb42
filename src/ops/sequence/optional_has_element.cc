#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  scope.out(0, DType::kBool, Shape::of_rank(0));
  return {};
}

Status reference(RunScope& scope) {
  bool has = scope.has(0);
  if (has && scope.inputs[0].object && scope.inputs[0].object->kind == Kind::kOptional)
    has = scope.inputs[0].object->has_value();
  MICA_TRY_STATUS(scope.allocate_output(0, {}));
  Elements(scope.out(0)).set_integer(0, has);
  return {};
}

}  // namespace

MICA_OP(optional_has_element) = {.name = "optional_has_element",
                                 .doc = "Whether an optional holds something; anything else does when it is there",
                                 .inputs = {0, 1},
                                 .infer = infer,
                                 .reference = reference,
                                 .takes_objects = true};

}  // namespace mica
