#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(sequence::require_sequence(scope, 0));
  MICA_CHECK(scope.type(1).is_tensor() && scope.dtype(1) == scope.dtype(0), kBadType, "a sequence of {} takes no {}",
             name_of(scope.dtype(0)), name_of(scope.dtype(1)));
  scope.out(0, Type::sequence(scope.dtype(0), sequence::cover(scope.shape(0), scope.shape(1), scope.dims())));
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const Object* list, sequence::sequence_of(scope, 0));
  const auto size = static_cast<int64_t>(list->tensors.size());
  int64_t at = size;
  if (scope.has(2)) {
    MICA_TRY(at, read_int(scope.in(2), "position"));
  }
  MICA_CHECK(at >= -size && at <= size, kBadValue, "position {} is outside [{}, {}]", at, -size, size);
  if (at < 0) at += size;
  MICA_TRY(Object out, list->copy());
  MICA_TRY(OwnedTensor item, OwnedTensor::copy_of(scope.in(1)));
  MICA_TRY_STATUS(out.tensors.push_back(std::move(item)));
  std::rotate(out.tensors.begin() + at, out.tensors.end() - 1, out.tensors.end());
  scope.out_object(0) = std::move(out);
  return {};
}

}  // namespace

MICA_OP(sequence_insert) = {.name = "sequence_insert",
                            .doc = "A sequence with a tensor inserted at a position, at its end by default",
                            .inputs = {2, 3},
                            .infer = infer,
                            .reference = reference,
                            .takes_objects = true};

}  // namespace mica
