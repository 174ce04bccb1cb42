#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(sequence::require_sequence(scope, 0));
  scope.out(0, DType::kI64, Shape::of_rank(0));
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const Object* list, sequence::object_of(scope, 0));
  MICA_TRY_STATUS(scope.allocate_output(0, {}));
  Elements(scope.out(0)).set_integer(0, static_cast<int64_t>(list->tensors.size() + list->objects.size()));
  return {};
}

}  // namespace

MICA_OP(sequence_length) = {.name = "sequence_length",
                            .doc = "How many items a sequence has",
                            .infer = infer,
                            .reference = reference,
                            .takes_objects = true};

}  // namespace mica
