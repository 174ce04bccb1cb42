// Inputs: a sequence, further sequences or tensors, then what the region uses from outside. The region takes an item of
// each sequence and the tensors as they are; its results, turn by turn, are the output sequences.
#include "ops/sequence/sequence_map.h"

#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(sequence::require_sequence(scope, 0));
  const auto operands = static_cast<size_t>(scope.attributes<SequenceMap>().operands);
  Vector<InferValue> in, out;
  MICA_TRY_STATUS(in.append(scope.inputs));
  MICA_TRY_STATUS(out.resize(scope.outputs.size()));
  for (InferValue& value : out) value.present = true;
  for (size_t i = 0; i < in.size() && i < operands; ++i)
    if (in[i].type.kind == Kind::kSequence)
      in[i] = InferValue{.present = true,
                         .type = Type::tensor(in[i].type.dtype, sequence::item_shape(in[i].type.shape, scope.dims()))};
  MICA_TRY_STATUS(scope.infer_region(0, in, out));
  for (int i = 0; i < scope.output_count(); ++i) {
    const Type& item = out[static_cast<size_t>(i)].type;
    MICA_CHECK(item.is_tensor(), kBadType, "a mapped region must give tensors");
    scope.out(i, Type::sequence(item.dtype, sequence::item_shape(item.shape, scope.dims())));
  }
  return {};
}

Status reference(RunScope& scope) {
  const auto operands = static_cast<size_t>(scope.attributes<SequenceMap>().operands);
  MICA_TRY(const Object* first, sequence::sequence_of(scope, 0));
  Vector<RunValue> in;
  MICA_TRY_STATUS(in.append(scope.inputs));
  Vector<RunScope::CallResult> results;
  MICA_TRY_STATUS(results.resize(scope.outputs.size()));
  Vector<Object> made;
  MICA_TRY_STATUS(made.resize(scope.outputs.size()));
  for (size_t turn = 0; turn < first->tensors.size(); ++turn) {
    MICA_TRY_STATUS(scope.check_stop());
    for (size_t i = 0; i < in.size() && i < operands; ++i) {
      const Object* list = scope.inputs[i].object;
      if (!list || list->kind != Kind::kSequence) continue;
      MICA_CHECK(list->tensors.size() == first->tensors.size(), kBadValue,
                 "sequences of {} and {} items are mapped together", first->tensors.size(), list->tensors.size());
      in[i] = {.present = true, .tensor = list->tensors[turn].view()};
    }
    MICA_TRY_STATUS(scope.call(0, in, results));
    for (size_t i = 0; i < made.size(); ++i) {
      made[i].dtype = results[i].tensor.view().dtype;
      MICA_TRY_STATUS(made[i].tensors.push_back(std::move(results[i].tensor)));
    }
  }
  for (size_t i = 0; i < made.size(); ++i)
    if (scope.wants(static_cast<int>(i))) scope.out_object(static_cast<int>(i)) = std::move(made[i]);
  return {};
}

}  // namespace

MICA_OP(sequence_map) = {.name = "sequence_map",
                         .doc = "Runs its region for the items of sequences and gives sequences of its results",
                         .inputs = {1, kAnyNumber},
                         .outputs = {1, kAnyNumber},
                         .attributes = attr_class<SequenceMap>(),
                         .infer = infer,
                         .reference = reference,
                         .regions = 1,
                         .takes_objects = true};

}  // namespace mica
