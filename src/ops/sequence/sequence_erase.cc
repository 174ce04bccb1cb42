#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(sequence::require_sequence(scope, 0));
  scope.out(0, scope.type(0));
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const Object* list, sequence::sequence_of(scope, 0));
  int64_t position = -1;
  if (scope.has(1)) {
    MICA_TRY(position, read_int(scope.in(1), "position"));
  }
  MICA_TRY(const int64_t at, checked_index(position, static_cast<int64_t>(list->tensors.size()), "position"));
  MICA_TRY(Object out, list->copy());
  std::rotate(out.tensors.begin() + at, out.tensors.begin() + at + 1, out.tensors.end());
  out.tensors.pop_back();
  scope.out_object(0) = std::move(out);
  return {};
}

}  // namespace

MICA_OP(sequence_erase) = {.name = "sequence_erase",
                           .doc = "A sequence without the tensor at a position, the last by default",
                           .inputs = {1, 2},
                           .infer = infer,
                           .reference = reference,
                           .takes_objects = true};

}  // namespace mica
