// Movement operators whose older opsets give as attributes what the newer ones give as inputs.
#include "ir/spelling.h"
#include "ops/move/center_crop_pad.h"
#include "ops/move/concat.h"
#include "ops/move/flatten.h"
#include "ops/move/pad.h"
#include "ops/move/reshape.h"
#include "ops/move/shape.h"
#include "ops/move/split.h"
#include "ops/move/transpose.h"

namespace mica {
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(flatten);
MICA_DECLARE_OP(squeeze);
MICA_DECLARE_OP(unsqueeze);
MICA_DECLARE_OP(transpose);
MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(split);
MICA_DECLARE_OP(slice);
MICA_DECLARE_OP(pad);
MICA_DECLARE_OP(expand);
MICA_DECLARE_OP(tile);
MICA_DECLARE_OP(shape);
MICA_DECLARE_OP(size);
MICA_DECLARE_OP(center_crop_pad);
namespace {

Values reshape_attribute(const SourceNode& node, Builder& build) {
  node.ignore("consumed_inputs");
  return build.add(op_reshape, Reshape{}, {node.input(0), build.ints(node.ints("shape"))});
}

Values reshape(const SourceNode& node, Builder& build) {
  return build.add(op_reshape, Reshape{.allow_zero = node.integer("allowzero", 0) != 0},
                   {node.input(0), node.input(1)});
}

// Axes as an attribute; a missing list means all axes of one element.
Values squeeze_attribute(const SourceNode& node, Builder& build) {
  return build.add(op_squeeze, {node.input(0), node.has("axes") ? build.ints(node.ints("axes")) : nullptr});
}

Values unsqueeze_attribute(const SourceNode& node, Builder& build) {
  if (!node.has("axes")) fail(Code::kBadAttribute, "Unsqueeze needs the attribute `axes`");
  return build.add(op_unsqueeze, {node.input(0), build.ints(node.ints("axes"))});
}

Values concat(const SourceNode& node, Builder& build) {
  return build.add(op_concat, Concat{.axis = node.version < 4 ? node.integer("axis", 1) : node.integer("axis")},
                   node.inputs);
}

Values split(const SourceNode& node, Builder& build) {
  Value* sizes = node.optional(1);
  if (!sizes && node.version < 13 && node.has("split")) sizes = build.ints(node.ints("split"));
  const int64_t parts = node.version >= 18 ? node.integer("num_outputs", node.outputs()) : node.outputs();
  if (parts < node.outputs()) fail(Code::kBadAttribute, "Split into {} parts has {} outputs", parts, node.outputs());
  return build.add(op_split, Split{.axis = node.integer("axis", 0), .parts = parts}, {node.input(0), sizes},
                   node.outputs());
}

Values slice_attributes(const SourceNode& node, Builder& build) {
  Value* axes = node.has("axes") ? build.ints(node.ints("axes")) : nullptr;
  return build.add(op_slice, {node.input(0), build.ints(node.ints("starts")), build.ints(node.ints("ends")), axes});
}

PadMode pad_mode(const SourceNode& node) {
  const std::string mode = node.text("mode", "constant");
  for (size_t i = 0; i < std::size(kPadModeNames); ++i)
    if (mode == kPadModeNames[i]) return static_cast<PadMode>(i);
  fail(Code::kBadAttribute, "Pad has the mode `{}`; known are constant, reflect, edge and wrap", mode);
}

Values pad_attributes(const SourceNode& node, Builder& build) {
  const auto pads = node.ints(node.version < 2 ? "paddings" : "pads");
  Value* value = build.scalar(node.input(0)->type.dtype, static_cast<double>(node.number("value", 0)));
  return build.add(op_pad, Pad{.mode = pad_mode(node)}, {node.input(0), build.ints(pads), value});
}

Values pad(const SourceNode& node, Builder& build) {
  return build.add(op_pad, Pad{.mode = pad_mode(node)},
                   {node.input(0), node.input(1), node.optional(2), node.optional(3)});
}

// Opset 1 repeats along one axis only.
Values tile_axis(const SourceNode& node, Builder& build) {
  const Shape& shape = node.input(0)->type.shape;
  const auto tiles = node.constant_ints(1), axis = node.constant_ints(2);
  if (!shape.known() || tiles.size() != 1 || axis.size() != 1)
    fail(Code::kUnsupportedOperator, "Tile of opset 1 needs a known rank and one axis");
  std::vector<int64_t> repeats(static_cast<size_t>(shape.rank), 1);
  repeats[static_cast<size_t>(value_or_throw(normalize_axis(axis[0], shape.rank)))] = tiles[0];
  return build.add(op_tile, {node.input(0), build.ints(repeats)});
}

Values shape(const SourceNode& node, Builder& build) {
  ShapeOf attributes;
  attributes.start = node.integer("start", attributes.start);
  attributes.end = node.integer("end", attributes.end);
  return build.add(op_shape, attributes, {node.input(0)});
}

// A tensor of one value is that value expanded.
Values constant_of_shape(const SourceNode& node, Builder& build) {
  Value* value = nullptr;
  if (const ConstantPtr given = node.tensor("value")) {
    if (given->view.count() != 1)
      fail(Code::kBadAttribute, "ConstantOfShape needs one value, given {}", given->view.count());
    value = build.graph().add_constant(Constant::make(given->view.dtype, {}, given->view.data));
  } else {
    value = build.scalar(DType::kF32, 0);
  }
  return build.add(op_expand, {value, node.input(0)});
}

}  // namespace

MICA_SPELLINGS(move, {Format::kOnnx, "", "Reshape", 1, 4, reshape_attribute},
               {Format::kOnnx, "", "Reshape", 5, kLatest, reshape},
               {Format::kOnnx, "", "Flatten", 1, kLatest, direct<op_flatten>},
               {Format::kOnnx, "", "Squeeze", 1, 12, squeeze_attribute},
               {Format::kOnnx, "", "Squeeze", 13, kLatest, direct<op_squeeze>},
               {Format::kOnnx, "", "Unsqueeze", 1, 12, unsqueeze_attribute},
               {Format::kOnnx, "", "Unsqueeze", 13, kLatest, direct<op_unsqueeze>},
               {Format::kOnnx, "", "Transpose", 1, kLatest, direct<op_transpose>},
               {Format::kOnnx, "", "Concat", 1, kLatest, concat}, {Format::kOnnx, "", "Split", 1, kLatest, split},
               {Format::kOnnx, "", "Slice", 1, 9, slice_attributes},
               {Format::kOnnx, "", "Slice", 10, kLatest, direct<op_slice>},
               {Format::kOnnx, "", "Pad", 1, 10, pad_attributes}, {Format::kOnnx, "", "Pad", 11, kLatest, pad},
               {Format::kOnnx, "", "Expand", 8, kLatest, direct<op_expand>},
               {Format::kOnnx, "", "Tile", 1, 5, tile_axis}, {Format::kOnnx, "", "Tile", 6, kLatest, direct<op_tile>},
               {Format::kOnnx, "", "Shape", 1, kLatest, shape},
               {Format::kOnnx, "", "Size", 1, kLatest, direct<op_size>},
               {Format::kOnnx, "", "ConstantOfShape", 9, kLatest, constant_of_shape},
               {Format::kOnnx, "", "CenterCropPad", 18, kLatest, direct<op_center_crop_pad>});

}  // namespace mica
