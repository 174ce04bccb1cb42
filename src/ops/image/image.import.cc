// Picture operators as ONNX spells them.
#include "ir/spelling.h"
#include "ops/image/affine_grid.h"
#include "ops/image/grid_sample.h"
#include "ops/image/max_roi_pool.h"
#include "ops/image/resize.h"
#include "ops/image/roi_align.h"

namespace mica {
MICA_DECLARE_OP(resize);
MICA_DECLARE_OP(grid_sample);
MICA_DECLARE_OP(affine_grid);
MICA_DECLARE_OP(roi_align);
MICA_DECLARE_OP(max_roi_pool);
namespace {

template <class E>
E choice(const SourceNode& node, std::string_view key, E otherwise) {
  const auto names = names_of(E{});
  const std::string text = node.text(key, names[static_cast<size_t>(otherwise)]);
  for (size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<E>(i);
  fail(Code::kBadAttribute, "{} has the {} `{}`", node.op, key, text);
}

// What Upsample and Resize of opset 10 share: coordinates without offsets.
Resize asymmetric(const SourceNode& node, NearestMode nearest) {
  const std::string mode = node.text("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "bilinear")
    fail(Code::kBadAttribute, "{} has the mode `{}`", node.op, mode);
  return {.mode = mode == "nearest" ? ResizeMode::kNearest : ResizeMode::kLinear,
          .coordinates = Coordinates::kAsymmetric,
          .nearest = nearest};
}

Values upsample_sides(const SourceNode& node, Builder& build) {
  const float scales[] = {1, 1, node.number("height_scale", 1), node.number("width_scale", 1)};
  return build.add(op_resize, asymmetric(node, NearestMode::kFloor), {node.input(0), nullptr, build.floats(scales)});
}
Values upsample_attribute(const SourceNode& node, Builder& build) {
  return build.add(op_resize, asymmetric(node, NearestMode::kFloor),
                   {node.input(0), nullptr, build.floats(node.floats("scales"))});
}
Values upsample(const SourceNode& node, Builder& build) {
  return build.add(op_resize, asymmetric(node, NearestMode::kFloor), {node.input(0), nullptr, node.input(1)});
}
Values resize_10(const SourceNode& node, Builder& build) {
  return build.add(op_resize, asymmetric(node, NearestMode::kSimple), {node.input(0), nullptr, node.input(1)});
}

Values resize(const SourceNode& node, Builder& build) {
  Resize attributes;
  attributes.mode = choice(node, "mode", attributes.mode);
  attributes.coordinates = choice(node, "coordinate_transformation_mode", attributes.coordinates);
  attributes.nearest = choice(node, "nearest_mode", attributes.nearest);
  attributes.policy = choice(node, "keep_aspect_ratio_policy", attributes.policy);
  attributes.cubic_a = node.number("cubic_coeff_a", attributes.cubic_a);
  attributes.extrapolation = node.number("extrapolation_value", 0);
  attributes.exclude_outside = node.integer("exclude_outside", 0) != 0;
  attributes.antialias = node.integer("antialias", 0) != 0;
  attributes.axes = node.int_list("axes");
  // ONNX's reference aligns with where scale · size ends; torch, whose models this is said of, with the last sample.
  attributes.whole_length = node.maker == "pytorch" && attributes.coordinates == Coordinates::kAlignCorners;
  return build.add(op_resize, attributes, {node.input(0), node.optional(1), node.optional(2), node.optional(3)});
}

Values grid_sample(const SourceNode& node, Builder& build) {
  GridSample attributes;
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "bilinear" && mode != "nearest" && mode != "cubic" && mode != "bicubic")
    fail(Code::kBadAttribute, "GridSample has the mode `{}`", mode);
  attributes.mode = mode == "nearest"         ? GridMode::kNearest
                    : mode.ends_with("cubic") ? GridMode::kCubic
                                              : GridMode::kLinear;
  attributes.padding = choice(node, "padding_mode", attributes.padding);
  attributes.align_corners = node.integer("align_corners", 0) != 0;
  return build.add(op_grid_sample, attributes, {node.input(0), node.input(1)});
}

Values roi_align(const SourceNode& node, Builder& build) {
  RoiAlign attributes{.height = node.integer("output_height", 1),
                      .width = node.integer("output_width", 1),
                      .sampling = node.integer("sampling_ratio", 0)};
  attributes.scale = node.number("spatial_scale", 1);
  const std::string mode = node.text("mode", "avg"), otherwise = node.version < 16 ? "output_half_pixel" : "half_pixel";
  const std::string coordinates = node.text("coordinate_transformation_mode", otherwise);
  if (mode != "avg" && mode != "max") fail(Code::kBadAttribute, "RoiAlign has the mode `{}`", mode);
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    fail(Code::kBadAttribute, "RoiAlign has the coordinates `{}`", coordinates);
  attributes.max = mode == "max";
  attributes.half_pixel = coordinates == "half_pixel";
  return build.add(op_roi_align, attributes, {node.input(0), node.input(1), node.input(2)});
}

Values max_roi_pool(const SourceNode& node, Builder& build) {
  const MaxRoiPool attributes{.pooled_shape = node.int_list("pooled_shape"), .scale = node.number("spatial_scale", 1)};
  return build.add(op_max_roi_pool, attributes, {node.input(0), node.input(1)});
}

}  // namespace

MICA_SPELLINGS(image, {Format::kOnnx, "", "Upsample", 1, 6, upsample_sides},
               {Format::kOnnx, "", "Upsample", 7, 8, upsample_attribute},
               {Format::kOnnx, "", "Upsample", 9, kLatest, upsample}, {Format::kOnnx, "", "Resize", 10, 10, resize_10},
               {Format::kOnnx, "", "Resize", 11, kLatest, resize},
               {Format::kOnnx, "", "GridSample", 16, kLatest, grid_sample},
               {Format::kOnnx, "", "AffineGrid", 20, kLatest, direct<op_affine_grid>},
               {Format::kOnnx, "", "RoiAlign", 10, kLatest, roi_align},
               {Format::kOnnx, "", "MaxRoiPool", 1, kLatest, max_roi_pool});

}  // namespace mica
