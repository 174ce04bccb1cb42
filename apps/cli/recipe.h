// The recipe that turns a picture into a network's input: docs/preprocessing.md.
#pragma once
#include <nlohmann/json.hpp>

#include "array.h"
#include "image.h"
#include "mica/tools.hpp"
#include "words.h"

namespace mica::cli {

struct Recipe : tools::Recipe {
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
