#include "convert/pixels.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ir/builder.h"
#include "ops/move/transpose.h"
#include "ops/pointwise/cast.h"

namespace mica {

MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(transpose);

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKey = "mica.preprocess";

Json recipe_of(const Graph& graph) {
  const auto stored = graph.metadata.find(kKey);
  if (stored == graph.metadata.end())
    fail(Code::kUsage, "the model has no recipe for pictures, and none was given: what its input wants is not known");
  Json recipe = Json::parse(stored->second, nullptr, false);
  if (!recipe.is_object()) fail(Code::kUsage, "the recipe for pictures is no JSON object");
  return recipe;
}

std::string text_of(const Json& recipe, const char* key, const char* otherwise) {
  if (!recipe.contains(key)) return otherwise;
  if (!recipe[key].is_string()) fail(Code::kUsage, "the recipe for pictures: `{}` is no text", key);
  return recipe[key].get<std::string>();
}

// One number, or one for each channel.
std::vector<float> numbers_of(const Json& recipe, const char* key, int64_t channels) {
  const Json& given = recipe[key];
  std::vector<float> list;
  for (const Json& item : given.is_array() ? given : Json::array({given})) {
    if (!item.is_number()) fail(Code::kUsage, "the recipe for pictures: `{}` is no number or list of numbers", key);
    list.push_back(item.get<float>());
  }
  if (list.size() != 1 && list.size() != static_cast<size_t>(channels))
    fail(Code::kUsage, "the recipe for pictures: {} numbers in `{}` for {} channels", list.size(), key, channels);
  return list;
}

size_t input_of(const Graph& graph, const Json& recipe) {
  const std::string name = text_of(recipe, "input", "");
  if (name.empty() && graph.inputs.size() != 1)
    fail(Code::kUsage, "the recipe for pictures names none of {} inputs", graph.inputs.size());
  if (name.empty()) return 0;
  const auto found = std::ranges::find(graph.input_names, name);
  if (found == graph.input_names.end()) fail(Code::kUsage, "the recipe for pictures: there is no input `{}`", name);
  return static_cast<size_t>(found - graph.input_names.begin());
}

// The picture's type: the input's dimensions with the channels last.
Type picture_type(const Type& input, bool channels_last, const std::string& name) {
  const Shape& shape = input.shape;
  if (!input.is_tensor() || input.dtype != DType::kF32 || (shape.rank != 3 && shape.rank != 4))
    fail(Code::kUsage, "input `{}` takes no picture of single precision", name);
  const int first = shape.rank - 3;
  Type type = input;
  type.dtype = DType::kU8;
  if (channels_last) return type;
  type.shape[first] = shape[first + 1];
  type.shape[first + 1] = shape[first + 2];
  type.shape[first + 2] = shape[first];
  return type;
}

// (byte - mean) · scale in the layout that the network wants.
Value* numbers_of_picture(Builder& build, Value* picture, const Json& recipe, bool channels_last) {
  const int rank = picture->type.shape.rank;
  const Dim channels = picture->type.shape[rank - 1];
  const int64_t count = channels.is_fixed() ? channels.value() : 1;
  Value* made = build.one(op_cast, Cast{.to = DType::kF32}, {picture});
  if (recipe.contains("mean")) made = build.one(op_sub, {made, build.floats(numbers_of(recipe, "mean", count))});
  if (recipe.contains("scale")) made = build.one(op_mul, {made, build.floats(numbers_of(recipe, "scale", count))});
  if (channels_last) return made;
  Transpose transpose;
  if (rank == 4) transpose.perm.push(0);
  for (int axis : {rank - 1, rank - 3, rank - 2}) transpose.perm.push(axis);
  return build.one(op_transpose, transpose, {made});
}

}  // namespace

void take_pixels(Graph& graph) {
  Json recipe = recipe_of(graph);
  const size_t index = input_of(graph, recipe);
  const bool channels_last = text_of(recipe, "layout", "NCHW") == "NHWC";
  for (const Graph::State& state : graph.states)
    if (state.input == static_cast<int>(index))
      fail(Code::kUsage, "input `{}` is a state and takes no picture", graph.input_names[index]);
  Value* old = graph.inputs[index];
  Value* picture = graph.make_value(picture_type(old->type, channels_last, graph.input_names[index]), old->name);
  old->name.clear();
  Builder build(graph);
  build.insert_at(0);
  Value* numbers = numbers_of_picture(build, picture, recipe, channels_last);
  graph.inputs[index] = picture;
  for (const auto& node : graph.nodes) std::ranges::replace(node->inputs, old, numbers);
  std::ranges::replace(graph.outputs, old, numbers);
  recipe.erase("mean");
  recipe.erase("scale");
  recipe["layout"] = "NHWC";
  graph.metadata[kKey] = recipe.dump();
}

}  // namespace mica
