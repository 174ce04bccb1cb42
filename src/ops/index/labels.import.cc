// Lookups of the ai.onnx.ml domain.
#include "ir/spelling.h"
#include "ops/index/axis.h"

namespace mica {
MICA_DECLARE_OP(label_encoder);
MICA_DECLARE_OP(gather);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(unsqueeze);
namespace {

Value* texts(Builder& build, const std::vector<std::string>& list) {
  std::vector<StringRef> refs;
  for (const std::string& text : list) refs.push_back({text.data(), static_cast<int64_t>(text.size())});
  const auto count = static_cast<int64_t>(refs.size());
  return build.constant(DType::kString, std::span(&count, 1), refs.data());
}

// The list `stem` in whichever form the node has it; null when in none.
Value* list_of(const SourceNode& node, Builder& build, const std::string& stem) {
  Value* list = nullptr;
  if (node.has(stem + "_tensor")) list = build.graph().add_constant(node.tensor(stem + "_tensor"));
  if (node.has(stem + "_strings")) list = texts(build, node.texts(stem + "_strings"));
  if (node.has(stem + "_int64s")) list = build.ints(node.ints(stem + "_int64s"));
  if (node.has(stem + "_floats")) list = build.floats(node.floats(stem + "_floats"));
  return list;
}

Value* default_of(const SourceNode& node, Builder& build, DType dtype) {
  const std::string text = node.text("default_string", "_Unused");
  const int64_t number = node.integer("default_int64", -1);
  const float real = node.number("default_float", -0.0f);
  if (node.has("default_tensor")) return build.graph().add_constant(node.tensor("default_tensor"));
  if (dtype == DType::kString) return texts(build, {text});
  if (is_integer(dtype)) return build.scalar(dtype, static_cast<double>(number));
  return build.scalar(dtype, static_cast<double>(real));
}

Values label_encoder(const SourceNode& node, Builder& build) {
  Value *keys = list_of(node, build, "keys"), *values = list_of(node, build, "values");
  if (!keys || !values) fail(Code::kBadAttribute, "LabelEncoder needs keys and values");
  return build.add(op_label_encoder, {node.input(0), keys, values, default_of(node, build, values->type.dtype)});
}

// Version 1: the places of strings in a list, or back.
Values label_classes(const SourceNode& node, Builder& build) {
  const auto classes = node.texts("classes_strings");
  std::vector<int64_t> places;
  for (size_t i = 0; i < classes.size(); ++i) places.push_back(static_cast<int64_t>(i));
  Value *names = texts(build, classes), *numbers = build.ints(places);
  const bool from_text = node.input(0)->type.dtype == DType::kString;
  Value* otherwise = default_of(node, build, from_text ? DType::kI64 : DType::kString);
  return build.add(op_label_encoder,
                   {node.input(0), from_text ? names : numbers, from_text ? numbers : names, otherwise});
}

// Columns of the last axis; a list counts as one row.
Values array_feature_extractor(const SourceNode& node, Builder& build) {
  const int64_t all = -1, front = 0;
  Value* columns = build.one(op_reshape, {node.input(1), build.ints(std::span(&all, 1))});
  Value* taken = build.one(op_gather, IndexAxis{.axis = -1}, {node.input(0), columns});
  if (node.input(0)->type.shape.rank == 1) taken = build.one(op_unsqueeze, {taken, build.ints(std::span(&front, 1))});
  return {taken};
}

}  // namespace

MICA_SPELLINGS(labels, {Format::kOnnx, "ai.onnx.ml", "LabelEncoder", 1, 1, label_classes},
               {Format::kOnnx, "ai.onnx.ml", "LabelEncoder", 2, kLatest, label_encoder},
               {Format::kOnnx, "ai.onnx.ml", "ArrayFeatureExtractor", 1, kLatest, array_feature_extractor});

}  // namespace mica
