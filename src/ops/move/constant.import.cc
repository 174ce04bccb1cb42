// Constant in all its attribute forms: no node, a value.
#include "ir/spelling.h"

namespace mica {
namespace {

Value* texts(Builder& build, const std::vector<std::string>& list, bool scalar) {
  std::vector<StringRef> refs;
  for (const std::string& text : list) refs.push_back({text.data(), static_cast<int64_t>(text.size())});
  const auto count = static_cast<int64_t>(refs.size());
  return build.graph().add_constant(Constant::make(DType::kString, std::span(&count, scalar ? 0 : 1), refs.data()));
}

Values constant(const SourceNode& node, Builder& build) {
  const auto given = [&](std::string_view key) { return node.has(key); };
  int forms = 0;
  for (std::string_view key : {"value", "sparse_value", "value_int", "value_ints", "value_float", "value_floats",
                               "value_string", "value_strings"})
    forms += given(key);
  if (forms != 1) fail(Code::kBadAttribute, "Constant needs exactly one value, given {}", forms);
  if (given("value")) return {build.graph().add_constant(node.tensor("value"))};
  if (given("sparse_value")) return {build.graph().add_constant(node.tensor("sparse_value"))};
  if (given("value_ints")) return {build.ints(node.ints("value_ints"))};
  if (given("value_floats")) return {build.floats(node.floats("value_floats"))};
  if (given("value_strings")) return {texts(build, node.texts("value_strings"), false)};
  if (given("value_string")) return {texts(build, {node.text("value_string", "")}, true)};
  if (given("value_int")) {
    const int64_t value = node.integer("value_int");
    return {build.constant(DType::kI64, {}, &value)};
  }
  const float value = node.number("value_float", 0);
  return {build.constant(DType::kF32, {}, &value)};
}

}  // namespace

MICA_SPELLINGS(constant, {Format::kOnnx, "", "Constant", 1, kLatest, constant});

}  // namespace mica
