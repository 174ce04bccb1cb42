#include "recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> parse_numbers(const std::string& text, const std::string& key) {
  std::vector<double> list;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    char* stop = nullptr;
    list.push_back(std::strtod(item.c_str(), &stop));
    if (item.empty() || *stop || !std::isfinite(list.back()))
      fail_usage(fmt::format("--{}: `{}` is no number", key, item), "numbers are separated by commas");
    at = end + 1;
  }
  return list;
}

// The axes of the input that are channels, height and width, from its end: a batch axis may stand in front.
struct Axes {
  int channel, height, width;
};
Axes axes_of(const std::string& layout, const mica_port_info& port) {
  if (port.rank != 4 && port.rank != 3)
    fail_usage(fmt::format("input `{}` of type {} takes no picture", port.name, port.type),
               "give arrays with --input NAME=FILE.npy");
  const int first = port.rank - 3;
  return layout == "NHWC" ? Axes{first + 2, first, first + 1} : Axes{first, first + 1, first + 2};
}

// What is left open goes by the input's own shape.
void complete(Recipe& recipe, const Image& image, const mica_port_info& port) {
  if (recipe.layout.empty()) recipe.layout = "NCHW";
  const Axes axes = axes_of(recipe.layout, port);
  if (recipe.channels.empty()) recipe.channels = port.dims[axes.channel] == 1 ? "gray" : "rgb";
  if (recipe.fit.empty()) recipe.fit = "stretch";
  if (recipe.size.empty()) recipe.size = {port.dims[axes.height], port.dims[axes.width]};
  if (recipe.size[0] < 0) recipe.size[0] = image.height;
  if (recipe.size[1] < 0) recipe.size[1] = image.width;
  if (recipe.size[0] < 1 || recipe.size[1] < 1 || recipe.size[0] > 32768 || recipe.size[1] > 32768)
    fail_usage(fmt::format("input `{}` has {} rows and {} columns: pictures have 1 to 32768", port.name, recipe.size[0],
                           recipe.size[1]));
  if (recipe.fit == "crop" && !recipe.short_side) recipe.short_side = std::max(recipe.size[0], recipe.size[1]);
  const size_t channels = recipe.channels == "gray" ? 1 : 3;
  for (const auto* list : {&recipe.mean, &recipe.scale})
    if (list->size() > 1 && list->size() != channels)
      fail_usage(fmt::format("pre-processing: {} numbers for {} channels", list->size(), channels));
}

uint8_t channel_of(const uint8_t* pixel, const std::string& channels, size_t c) {
  if (channels == "gray")
    return static_cast<uint8_t>(std::floor(0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2] + 0.5));
  return pixel[channels == "bgr" ? 2 - c : c];
}

double of_channel(const std::vector<double>& list, size_t c, double otherwise) {
  return list.empty() ? otherwise : list.size() == 1 ? list[0] : list[c];
}

}  // namespace

Json Recipe::json() const {
  Json made = Json::object();
  if (!input.empty()) made["input"] = input;
  if (!layout.empty()) made["layout"] = layout;
  if (!channels.empty()) made["channels"] = channels;
  if (!size.empty()) made["size"] = size;
  if (!fit.empty()) made["fit"] = fit;
  if (short_side) made["short_side"] = short_side;
  if (!mean.empty()) made["mean"] = mean;
  if (!scale.empty()) made["scale"] = scale;
  return made;
}

void RecipeFlags::add(Words& words) {
  const char* group = "Pre-processing of pictures";
  words.option("--layout", layout, "NCHW or NHWC: where the channel axis stands").in_group(group);
  words.option("--channels", channels, "rgb, bgr or gray").in_group(group);
  words.option("--size", size, "HEIGHTxWIDTH of the input").in_group(group);
  words.option("--fit", fit, "stretch, or crop (the centre)").in_group(group);
  words.option("--short-side", short_side, "with crop: length of the shorter side before the crop")
      .between(1, 32768)
      .in_group(group);
  words.option("--mean", mean, "subtracted from pixels 0..255: one number or one per channel").in_group(group);
  words.option("--scale", scale, "then multiplied: one number or one per channel").in_group(group);
  words.option("--labels", labels, "a file with the name of one class a line").not_empty().in_group(group);
}

bool RecipeFlags::any() const {
  return !layout.empty() || !channels.empty() || !fit.empty() || !size.empty() || !mean.empty() || !scale.empty() ||
         short_side;
}

Recipe make_recipe(const std::string& stored, const RecipeFlags& flags) {
  Json json = stored.empty() ? Json::object() : Json::parse(stored, nullptr, false);
  Recipe recipe;
  if (!json.is_object()) check(tools::parse_recipe(stored, recipe));  // says what is wrong with it
  if (!flags.layout.empty()) json["layout"] = flags.layout;
  if (!flags.channels.empty()) json["channels"] = flags.channels;
  if (!flags.fit.empty()) json["fit"] = flags.fit;
  if (flags.short_side) json["short_side"] = flags.short_side;
  if (!flags.mean.empty()) json["mean"] = parse_numbers(flags.mean, "mean");
  if (!flags.scale.empty()) json["scale"] = parse_numbers(flags.scale, "scale");
  if (!flags.size.empty()) {
    const std::vector<int64_t> size = parse_dims(flags.size, "--size");
    if (size.size() != 2) fail_usage("--size is HEIGHTxWIDTH, got `" + flags.size + "`");
    json["size"] = size;
  }
  check(tools::parse_recipe(json.dump(-1, ' ', false, Json::error_handler_t::replace), recipe));
  recipe.known = !stored.empty() || flags.any();
  return recipe;
}

std::vector<std::string> read_labels(const std::string& path) {
  std::vector<std::string> labels = read_lines(path);
  if (labels.empty()) fail_usage("`" + path + "` has no names of classes");
  for (size_t i = 0; i < labels.size(); ++i) {
    try {
      static_cast<void>(Json(labels[i]).dump());
    } catch (const Json::type_error&) {
      fail_usage(fmt::format("line {} of `{}` is no UTF-8 text", i + 1, path), "names of classes are in UTF-8");
    }
  }
  return labels;
}

std::vector<std::string> make_labels(const std::string& stored, const RecipeFlags& flags) {
  if (!flags.labels.empty()) return read_labels(flags.labels);
  std::vector<std::string> labels;
  if (stored.empty()) return labels;
  const Json json = Json::parse(stored, nullptr, false);
  const auto is_text = [](const Json& item) { return item.is_string(); };
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), is_text))
    fail_usage("the model's labels are no JSON list of texts");
  for (const Json& item : json) labels.push_back(item.get<std::string>());
  return labels;
}

Array apply(Recipe& recipe, const Image& image, const mica_port_info& port) {
  complete(recipe, image, port);
  const int height = static_cast<int>(recipe.size[0]), width = static_cast<int>(recipe.size[1]);
  const Image fitted = recipe.fit == "crop" ? crop(image, height, width, static_cast<int>(recipe.short_side))
                                            : resize(image, height, width);
  const Axes axes = axes_of(recipe.layout, port);
  const size_t channels = recipe.channels == "gray" ? 1 : 3;
  std::vector<int64_t> dims(static_cast<size_t>(port.rank), 1);
  dims[static_cast<size_t>(axes.channel)] = static_cast<int64_t>(channels);
  dims[static_cast<size_t>(axes.height)] = height;
  dims[static_cast<size_t>(axes.width)] = width;
  const bool floating =
      port.dtype == MICA_F32 || port.dtype == MICA_F64 || port.dtype == MICA_F16 || port.dtype == MICA_BF16;
  if (!floating && !(recipe.mean.empty() && recipe.scale.empty()))
    fail_usage(fmt::format("input `{}` has the type {}: mean and scale are for floating types", port.name,
                           mica_dtype_name(port.dtype)));
  Array made = Array::make(port.dtype, dims);
  const size_t area = static_cast<size_t>(height) * static_cast<size_t>(width);
  for (size_t i = 0; i < area; ++i)
    for (size_t c = 0; c < channels; ++c) {
      const auto pixel = static_cast<float>(channel_of(&fitted.pixels[3 * i], recipe.channels, c));
      const float value = (pixel - static_cast<float>(of_channel(recipe.mean, c, 0))) *
                          static_cast<float>(of_channel(recipe.scale, c, 1));
      set_number(made, static_cast<int64_t>(recipe.layout == "NHWC" ? i * channels + c : c * area + i),
                 static_cast<double>(value));
    }
  return made;
}

std::string described(const Recipe& recipe) {
  std::string text =
      fmt::format("{} to {}x{} ({}{}), {}", recipe.channels, recipe.size[0], recipe.size[1], recipe.fit,
                  recipe.fit == "crop" ? fmt::format(" of short side {}", recipe.short_side) : "", recipe.layout);
  if (!recipe.mean.empty()) text += fmt::format(", mean {}", fmt::join(recipe.mean, ","));
  if (!recipe.scale.empty()) text += fmt::format(", scale {}", fmt::join(recipe.scale, ","));
  return text;
}

}  // namespace mica::cli
