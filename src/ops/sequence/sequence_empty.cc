#include "ops/sequence/sequence_empty.h"

#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  scope.out(0, Type::sequence(scope.attributes<SequenceEmpty>().dtype));
  return {};
}

Status reference(RunScope& scope) {
  Object out;
  out.dtype = scope.attributes<SequenceEmpty>().dtype;
  scope.out_object(0) = std::move(out);
  return {};
}

}  // namespace

MICA_OP(sequence_empty) = {.name = "sequence_empty",
                           .doc = "A sequence without items",
                           .inputs = {0, 0},
                           .attributes = attr_class<SequenceEmpty>(),
                           .infer = infer,
                           .reference = reference};

}  // namespace mica
