// Operators on sequences and optionals as ONNX spells them.
#include "ir/spelling.h"
#include "ops/sequence/optional.h"
#include "ops/sequence/sequence_map.h"

namespace mica {
MICA_DECLARE_OP(sequence_construct);
MICA_DECLARE_OP(sequence_empty);
MICA_DECLARE_OP(sequence_at);
MICA_DECLARE_OP(sequence_insert);
MICA_DECLARE_OP(sequence_erase);
MICA_DECLARE_OP(sequence_length);
MICA_DECLARE_OP(sequence_map);
MICA_DECLARE_OP(split_to_sequence);
MICA_DECLARE_OP(concat_from_sequence);
MICA_DECLARE_OP(optional);
MICA_DECLARE_OP(optional_has_element);
MICA_DECLARE_OP(optional_get_element);
namespace {

// The region takes one item of each sequence, whose dims may differ from item to item.
Values sequence_map(const SourceNode& node, Builder& build) {
  node.ignore("body");
  std::vector<Type> types;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    Type type = node.input(i)->type;
    if (type.kind == Kind::kSequence) type = Type::tensor(type.dtype, type.shape);
    for (int k = 0; k < type.shape.rank; ++k)
      if (build.dims().depends_on(type.shape[k], SymbolKind::kData)) type.shape[k] = build.dims().fresh("item");
    types.push_back(type);
  }
  Values captures, inputs = node.inputs;
  const SequenceMap attributes{.operands = static_cast<int64_t>(inputs.size())};
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(node.region(node, "body", types, captures, nullptr));
  if (regions[0]->outputs.size() < static_cast<size_t>(node.outputs()))
    fail(Code::kBadModel, "the body of SequenceMap has {} outputs, expected {}", regions[0]->outputs.size(),
         node.outputs());
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  return build.add_with_regions(op_sequence_map, &attributes, std::move(inputs), std::move(regions), node.outputs());
}

Values optional(const SourceNode& node, Builder& build) {
  Optional attributes;
  if (const SourceAttribute* type = node.find("type")) {
    attributes.dtype = type->type.dtype;
    attributes.sequence = type->type.kind == Kind::kSequence;
  }
  return build.add(op_optional, attributes, {node.optional(0)});
}

}  // namespace

MICA_SPELLINGS(sequence, {Format::kOnnx, "", "SequenceConstruct", 11, kLatest, direct<op_sequence_construct>},
               {Format::kOnnx, "", "SequenceEmpty", 11, kLatest, direct<op_sequence_empty>},
               {Format::kOnnx, "", "SequenceAt", 11, kLatest, direct<op_sequence_at>},
               {Format::kOnnx, "", "SequenceInsert", 11, kLatest, direct<op_sequence_insert>},
               {Format::kOnnx, "", "SequenceErase", 11, kLatest, direct<op_sequence_erase>},
               {Format::kOnnx, "", "SequenceLength", 11, kLatest, direct<op_sequence_length>},
               {Format::kOnnx, "", "SequenceMap", 17, kLatest, sequence_map},
               {Format::kOnnx, "", "SplitToSequence", 11, kLatest, direct<op_split_to_sequence>},
               {Format::kOnnx, "", "ConcatFromSequence", 11, kLatest, direct<op_concat_from_sequence>},
               {Format::kOnnx, "", "Optional", 15, kLatest, optional},
               {Format::kOnnx, "", "OptionalHasElement", 15, kLatest, direct<op_optional_has_element>},
               {Format::kOnnx, "", "OptionalGetElement", 15, kLatest, direct<op_optional_get_element>});

}  // namespace mica
