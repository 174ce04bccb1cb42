#include "convert/pixels.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convert/recipe.h"
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

std::string recipe_of(const Graph& graph) {
  const auto stored = graph.metadata.find(kRecipeKey);
  if (stored == graph.metadata.end())
    fail(Code::kUsage, "the model has no recipe for pictures, and none was given: what its input wants is not known");
  return stored->second;
}

std::vector<float> singles_of(const std::vector<double>& numbers) { return {numbers.begin(), numbers.end()}; }

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
Value* numbers_of_picture(Builder& build, Value* picture, const PictureRecipe& recipe, bool channels_last) {
  const int rank = picture->type.shape.rank;
  Value* made = build.one(op_cast, Cast{.to = DType::kF32}, {picture});
  if (!recipe.mean.empty()) made = build.one(op_sub, {made, build.floats(singles_of(recipe.mean))});
  if (!recipe.scale.empty()) made = build.one(op_mul, {made, build.floats(singles_of(recipe.scale))});
  if (channels_last) return made;
  Transpose transpose;
  if (rank == 4) transpose.perm.push(0);
  for (int axis : {rank - 1, rank - 3, rank - 2}) transpose.perm.push(axis);
  return build.one(op_transpose, transpose, {made});
}

}  // namespace

void take_pixels(Graph& graph) {
  const std::string stored = recipe_of(graph);
  const PictureRecipe recipe = parse_recipe(stored);
  Value* old = picture_input(graph, recipe);
  if (!old) fail(Code::kUsage, "the recipe for pictures names none of {} inputs", graph.inputs.size());
  check_recipe(recipe, graph);
  const bool channels_last = recipe.layout == "NHWC";
  const auto index = static_cast<size_t>(std::ranges::find(graph.inputs, old) - graph.inputs.begin());
  Value* picture = graph.make_value(picture_type(old->type, channels_last, graph.input_names[index]), old->name);
  old->name.clear();
  Builder build(graph);
  build.insert_at(0);
  Value* numbers = numbers_of_picture(build, picture, recipe, channels_last);
  graph.inputs[index] = picture;
  for (const auto& node : graph.nodes) std::ranges::replace(node->inputs, old, numbers);
  std::ranges::replace(graph.outputs, old, numbers);
  Json json = Json::parse(stored);
  json.erase("mean");
  json.erase("scale");
  json["layout"] = "NHWC";
  graph.metadata[kRecipeKey] = json.dump();
}

}  // namespace mica
