#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(sequence::require_sequence(scope, 0));
  scope.out(0, scope.dtype(0), sequence::item_shape(scope.shape(0), scope.dims()));
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const Object* list, sequence::sequence_of(scope, 0));
  MICA_TRY(const int64_t position, read_int(scope.in(1), "position"));
  MICA_TRY(const int64_t at, checked_index(position, static_cast<int64_t>(list->tensors.size()), "position"));
  MICA_TRY(OwnedTensor item, OwnedTensor::copy_of(list->tensors[static_cast<size_t>(at)].view()));
  return scope.adopt_output(0, std::move(item));
}

}  // namespace

MICA_OP(sequence_at) = {.name = "sequence_at",
                        .doc = "The tensor at a position of a sequence; negative positions count from the end",
                        .inputs = {2, 2},
                        .infer = infer,
                        .reference = reference,
                        .takes_objects = true};

}  // namespace mica
