#include "ops/sequence/optional.h"

#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& attributes = scope.attributes<Optional>();
  Type inner = attributes.sequence ? Type::sequence(attributes.dtype) : Type::tensor(attributes.dtype);
  if (scope.has(0)) inner = scope.type(0);
  MICA_CHECK(inner.kind != Kind::kOptional, kBadType, "an optional cannot hold an optional");
  MICA_CHECK(inner.dtype != DType::kNone, kBadAttribute, "an empty optional needs a type");
  scope.out(0, Type::optional(inner));
  return {};
}

Status reference(RunScope& scope) {
  Object out;
  out.kind = Kind::kOptional;
  out.dtype = scope.attributes<Optional>().dtype;
  if (scope.has(0)) {
    if (const Object* object = scope.inputs[0].object) {
      out.dtype = object->dtype;
      MICA_TRY(Object copy, object->copy());
      MICA_TRY_STATUS(out.objects.push_back(std::move(copy)));
    } else {
      out.dtype = scope.in(0).dtype;
      MICA_TRY(OwnedTensor copy, OwnedTensor::copy_of(scope.in(0)));
      MICA_TRY_STATUS(out.tensors.push_back(std::move(copy)));
    }
  }
  scope.out_object(0) = std::move(out);
  return {};
}

}  // namespace

MICA_OP(optional) = {.name = "optional",
                     .doc = "An optional that holds the input, or nothing",
                     .inputs = {0, 1},
                     .attributes = attr_class<Optional>(),
                     .infer = infer,
                     .reference = reference,
                     .takes_objects = true};

}  // namespace mica
