#include "convert/recipe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ir/did_you_mean.h"

namespace mica {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostSide = 32768;
constexpr std::string_view kKeys[] = {"input", "layout", "channels", "size", "fit", "short_side", "mean", "scale"};

template <class... Args>
[[noreturn]] void refuse(std::string_view pattern, const Args&... args) {
  throw Failure(error(Code::kUsage, pattern, args...).at("the recipe for pictures"));
}

std::string text_of(const Json& value, const std::string& key, std::initializer_list<std::string_view> allowed) {
  if (!value.is_string()) refuse("`{}` is no text", key);
  std::string text = value.get<std::string>();
  if (std::ranges::find(allowed, text) != allowed.end() || allowed.size() == 0) return text;
  std::string list;
  for (std::string_view word : allowed) list += (list.empty() ? "" : ", ") + std::string(word);
  refuse("`{}` is `{}`, and can be {}", key, text, list);
}

int64_t side_of(const Json& value, const std::string& key) {
  const int64_t side = value.is_number_integer() ? value.get<int64_t>() : 0;
  if (side < 1 || side > kMostSide) refuse("`{}` is {}, and can be 1 to {}", key, value.dump(), kMostSide);
  return side;
}

std::vector<int64_t> size_of(const Json& value, const std::string& key) {
  if (!value.is_array() || value.size() != 2) refuse("`{}` is no list of height and width", key);
  return {side_of(value[0], key), side_of(value[1], key)};
}

std::vector<double> numbers_of(const Json& value, const std::string& key) {
  std::vector<double> list;
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    if (!item.is_number()) refuse("`{}` is no number or list of numbers", key);
    list.push_back(item.get<double>());
  }
  return list;
}

void read(PictureRecipe& recipe, const std::string& key, const Json& value) {
  if (key == "input")
    recipe.input = text_of(value, key, {});
  else if (key == "layout")
    recipe.layout = text_of(value, key, {"NCHW", "NHWC"});
  else if (key == "channels")
    recipe.channels = text_of(value, key, {"rgb", "bgr", "gray"});
  else if (key == "fit")
    recipe.fit = text_of(value, key, {"stretch", "crop"});
  else if (key == "size")
    recipe.size = size_of(value, key);
  else if (key == "short_side")
    recipe.short_side = side_of(value, key);
  else if (key == "mean")
    recipe.mean = numbers_of(value, key);
  else if (key == "scale")
    recipe.scale = numbers_of(value, key);
  else {
    Nearest nearest(key);
    for (std::string_view known : kKeys) nearest.offer(known);
    throw Failure(
        error(Code::kUsage, "there is no key `{}`", key).at("the recipe for pictures").hinting(did_you_mean(nearest)));
  }
}

void check_lists(const PictureRecipe& recipe, size_t channels) {
  for (const auto* list : {&recipe.mean, &recipe.scale})
    if (list->size() > 1 && list->size() != channels)
      refuse("`{}` has {} numbers for {} channels", list == &recipe.mean ? "mean" : "scale", list->size(), channels);
}

size_t channels_of(const std::string& word) { return word == "gray" ? 1 : 3; }

}  // namespace

PictureRecipe parse_recipe(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) refuse("it is no JSON object");
  PictureRecipe recipe;
  for (const auto& [key, value] : json.items()) {
    read(recipe, key, value);
    if (value.is_array() && value.empty()) refuse("`{}` is an empty list", key);
  }
  check_lists(recipe, channels_of(recipe.channels));
  return recipe;
}

Value* picture_input(const Graph& graph, const PictureRecipe& recipe) {
  std::vector<size_t> open;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const bool is_state =
        std::ranges::find(graph.states, static_cast<int>(i), &Graph::State::input) != graph.states.end();
    if (recipe.input == graph.input_names[i] && is_state)
      refuse("input `{}` is a state and takes no picture", recipe.input);
    if (recipe.input.empty() ? !is_state : recipe.input == graph.input_names[i]) open.push_back(i);
  }
  if (open.empty() && recipe.input.empty()) refuse("the model has no input that takes a picture");
  if (open.empty()) refuse("the model has no input `{}`", recipe.input);
  return open.size() == 1 ? graph.inputs[open[0]] : nullptr;
}

void check_recipe(const PictureRecipe& recipe, const Graph& graph) {
  const Value* input = picture_input(graph, recipe);
  if (!input || !input->type.shape.known()) return;
  const Shape& shape = input->type.shape;
  if (!input->type.is_tensor() || (shape.rank != 3 && shape.rank != 4))
    refuse("input `{}` takes no picture: it has {} dimensions", input->name, shape.rank);
  const int first = shape.rank - 3;
  const bool last = recipe.layout == "NHWC";
  const int axes[] = {last ? first + 2 : first, last ? first : first + 1, last ? first + 1 : first + 2};
  const auto fixed = [&](int k) { return shape[axes[k]].is_fixed() ? shape[axes[k]].value() : -1; };
  const int64_t channels =
      static_cast<int64_t>(recipe.channels.empty() ? (fixed(0) == 1 ? 1 : 3) : channels_of(recipe.channels));
  check_lists(recipe, static_cast<size_t>(channels));
  const int64_t made[] = {channels, recipe.size.empty() ? fixed(1) : recipe.size[0],
                          recipe.size.empty() ? fixed(2) : recipe.size[1]};
  constexpr const char* kWhat[] = {"channels", "rows", "columns"};
  for (int k = 0; k < 3; ++k)
    if (fixed(k) >= 0 && made[k] != fixed(k))
      refuse("pictures have {} {}, and axis {} of input `{}` has {}", made[k], kWhat[k], axes[k], input->name,
             fixed(k));
  if (recipe.fit == "crop" && recipe.short_side && recipe.short_side < std::min(made[1], made[2]))
    refuse("a short side of {} is less than the {} rows and {} columns that are cut out", recipe.short_side, made[1],
           made[2]);
  if (!is_float(input->type.dtype) && !(recipe.mean.empty() && recipe.scale.empty()))
    refuse("mean and scale are for inputs of floating types, and `{}` has {}", input->name, name_of(input->type.dtype));
}

}  // namespace mica
