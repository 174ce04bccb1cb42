// The recipe that turns a picture into a network's input: docs/preprocessing.md.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>

#include "array.h"
#include "image.h"
#include "words.h"

namespace mica::cli {

// A recipe's keys; what is not set goes by the defaults.
struct Recipe {
  std::string input, layout, channels, fit;
  std::vector<int64_t> size;  // height, width
  std::optional<int64_t> short_side;
  std::vector<double> mean, scale;
  bool known = false;  // somebody gave one

  nlohmann::ordered_json json() const;
};

// The flags that have a key's name.
struct RecipeFlags {
  std::string layout, channels, fit, size, mean, scale, labels;
  int64_t short_side = 0;
  void add(Words& words);
  bool any() const;  // of the recipe; not the labels
};

// Stored text, then flags over it. Usage errors as the documentation says.
Recipe make_recipe(const std::string& stored, const RecipeFlags& flags);
// Names of classes: from the flag's file, else the stored JSON list.
std::vector<std::string> make_labels(const std::string& stored, const RecipeFlags& flags);

// The picture as the input's tensor. Fills in what the recipe leaves open, for `described`.
Array apply(Recipe& recipe, const Image& image, const mica_port_info& port);
std::string described(const Recipe& recipe);

}  // namespace mica::cli
