#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  Shape shape = scope.shape(0);
  for (int i = 0; i < static_cast<int>(scope.inputs.size()); ++i) {
    MICA_CHECK(scope.has(i) && scope.type(i).is_tensor(), kBadType, "input {} of a sequence must be a tensor", i);
    MICA_TRY_STATUS(require_same_dtype(scope, 0, i));
    shape = sequence::cover(shape, scope.shape(i), scope.dims());
  }
  scope.out(0, Type::sequence(scope.dtype(0), shape));
  return {};
}

Status reference(RunScope& scope) {
  Object out;
  out.dtype = scope.in(0).dtype;
  for (int i = 0; i < static_cast<int>(scope.inputs.size()); ++i) {
    MICA_TRY(OwnedTensor item, OwnedTensor::copy_of(scope.in(i)));
    MICA_TRY_STATUS(out.tensors.push_back(std::move(item)));
  }
  scope.out_object(0) = std::move(out);
  return {};
}

}  // namespace

MICA_OP(sequence_construct) = {.name = "sequence_construct",
                               .doc = "A sequence of the inputs",
                               .inputs = {1, kAnyNumber},
                               .infer = infer,
                               .reference = reference,
                               .takes_objects = true};

}  // namespace mica
