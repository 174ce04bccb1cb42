// The recipe that turns a picture into a network's input: docs/preprocessing.md.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace mica {

// What is not set goes by the defaults.
struct PictureRecipe {
  std::string input, layout, channels, fit;  // "": not set
  std::vector<int64_t> size;                 // height and width; empty: not set
  int64_t short_side = 0;                    // 0: not set
  std::vector<double> mean, scale;           // one number, or one per channel; empty: not set
};

inline constexpr const char* kRecipeKey = "mica.preprocess";  // of a graph's metadata

// From JSON. Throws Failure (kUsage) for an unknown key, and for a value of a wrong kind or outside what it may be.
PictureRecipe parse_recipe(const std::string& json);

// The graph's input that takes the picture; null when the recipe names none and there are several. Throws Failure
// (kUsage) when there is no such input, or it is a state.
Value* picture_input(const Graph& graph, const PictureRecipe& recipe);

// Throws Failure (kUsage) when no picture can become the graph's input in this way.
void check_recipe(const PictureRecipe& recipe, const Graph& graph);

}  // namespace mica
