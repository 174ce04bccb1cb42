#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  Type type = scope.type(0);
  if (type.kind == Kind::kOptional) {
    type.kind = type.of;
    type.of = Kind::kTensor;
  }
  scope.out(0, type);
  return {};
}

Status reference(RunScope& scope) {
  const Object* object = scope.inputs[0].object;
  if (object && object->kind == Kind::kOptional) {
    MICA_CHECK(object->has_value(), kBadValue, "the optional is empty");
    if (!object->objects.empty()) {
      object = &object->objects[0];
    } else {
      MICA_TRY(OwnedTensor copy, OwnedTensor::copy_of(object->tensors[0].view()));
      return scope.adopt_output(0, std::move(copy));
    }
  }
  if (object) {
    MICA_TRY(scope.out_object(0), object->copy());
    return {};
  }
  MICA_TRY(OwnedTensor copy, OwnedTensor::copy_of(scope.in(0)));
  return scope.adopt_output(0, std::move(copy));
}

}  // namespace

MICA_OP(optional_get_element) = {.name = "optional_get_element",
                                 .doc = "What an optional holds; anything else as it is",
                                 .infer = infer,
                                 .reference = reference,
                                 .takes_objects = true};

}  // namespace mica
