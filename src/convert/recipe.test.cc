// Recipes for pictures: what they say, and what of it cannot be.
#include "convert/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mica {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The error's text, or "".
template <class Do>
std::string why(const Do& run) {
  try {
    run();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error->code(), Code::kUsage);
    return std::string(failure.error->what());
  }
  return "";
}

// One input of these dimensions; -1: open.
std::string misfit(const std::string& json, std::initializer_list<int64_t> dims, DType dtype = DType::kF32) {
  return why([&] {
    Graph graph;
    Shape shape = Shape::of_rank(0);
    for (const int64_t d : dims) shape.push(d < 0 ? graph.dims->symbol("d" + std::to_string(shape.rank)) : Dim(d));
    graph.add_input(Type::tensor(dtype, shape), "image");
    check_recipe(parse_recipe(json), graph);
  });
}

TEST(Recipe, EveryKeyIsRead) {
  const PictureRecipe r = parse_recipe(R"({"input": "x", "layout": "NHWC", "channels": "bgr", "size": [224, 192],
    "fit": "crop", "short_side": 256, "mean": [1, 2.5, -3], "scale": 0.5})");
  EXPECT_EQ(r.input + r.layout + r.channels + r.fit, "xNHWCbgrcrop");
  EXPECT_THAT(r.size, ElementsAre(224, 192));
  EXPECT_EQ(r.short_side, 256);
  EXPECT_THAT(r.mean, ElementsAre(1, 2.5, -3));
  EXPECT_THAT(r.scale, ElementsAre(0.5));
}

TEST(Recipe, WhatCannotBeIsRefused) {
  for (const char* json : {"",
                           "{bad",
                           "[]",
                           "null",
                           R"({"size": [0, 0]})",
                           R"({"size": [-1, 8]})",
                           R"({"size": [8]})",
                           R"({"size": 8})",
                           R"({"size": [8, 40000]})",
                           R"({"size": [8, 1.5]})",
                           R"({"layout": "HWC"})",
                           R"({"channels": 3})",
                           R"({"fit": "pad"})",
                           R"({"short_side": 0})",
                           R"({"mean": "1"})",
                           R"({"mean": [1, null, 2]})",
                           R"({"scale": []})",
                           R"({"mean": [1, 2]})",
                           R"({"channels": "gray", "scale": [1, 2, 3]})",
                           R"({"scale": 1e999})",
                           R"({"short_side": 18446744073709551615})"})
    EXPECT_NE(why([&] { parse_recipe(json); }), "") << json;
  try {
    parse_recipe(R"({"chanels": "rgb"})");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(std::string(failure.error->hint()), HasSubstr("channels"));
  }
}

TEST(Recipe, FitsTheInput) {
  for (const char* json :
       {"{}", R"({"size": [8, 6], "channels": "gray"})", R"({"mean": 3})", R"({"fit": "crop", "short_side": 6})"})
    EXPECT_EQ(misfit(json, {1, 1, 8, 6}), "") << json;
  EXPECT_EQ(misfit(R"({"layout": "NHWC", "mean": [1, 2, 3], "size": [8, 6]})", {8, 6, 3}), "");
  EXPECT_EQ(misfit(R"({"size": [9, 99], "channels": "rgb"})", {-1, -1, -1, -1}), "");
  EXPECT_EQ(misfit("{}", {1, 8, 6, 1}, DType::kU8).empty(), false);  // the layout is another
  EXPECT_EQ(misfit(R"({"layout": "NHWC"})", {1, 8, 6, 1}, DType::kU8), "");
}

TEST(Recipe, DoesNotFitTheInput) {
  EXPECT_THAT(misfit(R"({"size": [9, 6]})", {1, 1, 8, 6}), HasSubstr("9 rows"));
  EXPECT_THAT(misfit(R"({"size": [8, 9]})", {1, 1, 8, 6}), HasSubstr("9 columns"));
  EXPECT_THAT(misfit(R"({"channels": "rgb"})", {1, 1, 8, 6}), HasSubstr("3 channels"));
  EXPECT_NE(misfit(R"({"layout": "NHWC"})", {1, 1, 8, 6}), "");
  EXPECT_NE(misfit(R"({"mean": [1, 2, 3]})", {1, 1, 8, 6}), "");
  EXPECT_THAT(misfit(R"({"fit": "crop", "short_side": 5})", {1, 1, 8, 6}), HasSubstr("short side"));
  EXPECT_NE(misfit(R"({"scale": 2})", {1, 1, 8, 6}, DType::kU8), "");
  EXPECT_NE(misfit("{}", {8, 6}), "");
  EXPECT_NE(misfit(R"({"input": "other"})", {1, 1, 8, 6}), "");
}

}  // namespace
}  // namespace mica
