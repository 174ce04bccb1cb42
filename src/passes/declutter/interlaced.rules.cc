// A convolution whose input has the pixels of blocks side by side as channels (the "focus" of detectors, slices with
// steps and a concatenation) is one over the image itself, with a larger kernel and stride: the same products, and
// nothing is copied.
#include <optional>

#include "ops/conv/conv.h"
#include "ops/move/concat.h"
#include "ops/move/slice.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(slice);

namespace {

// Beyond, channels are worth a product of their own, whose rows are read in place.
constexpr int64_t kMostChannels = 8;
// More parts, sides of images, strides and pads are no network's: their products would leave what a window may have.
constexpr size_t kMostParts = 256;
constexpr int64_t kMostSide = 1 << 20;

// Every step-th element from `begin` on, for each axis of an image.
struct Grid {
  Value* of = nullptr;
  int64_t begin[4] = {0, 0, 0, 0}, step[4] = {1, 1, 1, 1};
};

// What a slice takes of its operand, whose dimensions are known.
std::optional<SliceCut> cut_of(const Node& slice) {
  const Shape& shape = slice.inputs[0]->type.shape;
  if (!shape.fixed() || shape.rank != 4) return {};
  const auto dims = contents::dims_of(*slice.inputs[0]);
  if (std::ranges::any_of(dims, [](int64_t n) { return n > kMostSide; })) return {};
  return contents::cut_of(slice, dims);
}

// Slices of slices of an image, as one grid on it.
std::optional<Grid> grid_of(Value* part) {
  Grid grid{part};
  while (grid.of->producer && grid.of->producer->op == &op_slice) {
    const Node& slice = *grid.of->producer;
    const auto cut = cut_of(slice);
    if (!cut) return {};
    for (int i = 0; i < 4; ++i) {
      if (cut->step[i] < 1) return {};
      grid.begin[i] = cut->begin[i] + cut->step[i] * grid.begin[i];
      grid.step[i] *= cut->step[i];
    }
    grid.of = slice.inputs[0];
  }
  return grid;
}

// The places in a block of the parts of a concatenation, when each place of each block is in one part.
struct Blocks {
  Value* image = nullptr;
  int64_t height = 1, width = 1;
  std::vector<int64_t> places;  // of part after part: row · width + column
};
std::optional<Blocks> blocks_of(const Node& concat) {
  Blocks blocks;
  std::vector<bool> seen;
  for (Value* part : concat.inputs) {
    const auto grid = grid_of(part);
    if (!grid || !grid->of->type.shape.fixed() || grid->of->type.shape.rank != 4) return {};
    if (!blocks.image) {
      blocks = {grid->of, grid->step[2], grid->step[3], {}};
      if (blocks.height * blocks.width != static_cast<int64_t>(concat.inputs.size())) return {};
      seen.resize(concat.inputs.size());
    }
    const Shape &from = blocks.image->type.shape, &to = part->type.shape;
    if (!to.fixed() || to.rank != 4) return {};
    const bool fits = grid->of == blocks.image && grid->step[2] == blocks.height && grid->step[3] == blocks.width &&
                      to[0] == from[0] && to[1] == from[1] && from[2].is(to[2].value() * blocks.height) &&
                      from[3].is(to[3].value() * blocks.width);
    if (!fits || grid->begin[2] >= blocks.height || grid->begin[3] >= blocks.width) return {};
    const int64_t place = grid->begin[2] * blocks.width + grid->begin[3];
    if (seen[static_cast<size_t>(place)]) return {};
    seen[static_cast<size_t>(place)] = true;
    blocks.places.push_back(place);
  }
  return blocks;
}

// w[m][part · channels + c][u][v] goes to [m][c][u · height + row][v · width + column].
Value* spread_weights(const Value& w, const Blocks& blocks, Builder& build) {
  const auto dims = contents::dims_of(w);
  const std::vector<double> from = contents::numbers(w);
  const auto parts = static_cast<int64_t>(blocks.places.size());
  const int64_t channels = dims[1] / parts, rows = dims[2], columns = dims[3];
  const std::vector<int64_t> wide = {dims[0], channels, rows * blocks.height, columns * blocks.width};
  std::vector<double> to(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = static_cast<int64_t>(i), channel = at / (rows * columns) % dims[1];
    const int64_t place = blocks.places[static_cast<size_t>(channel / channels)];
    const int64_t row = at / columns % rows * blocks.height + place / blocks.width;
    const int64_t column = at % columns * blocks.width + place % blocks.width;
    const int64_t filter = at / (rows * columns * dims[1]) * channels + channel % channels;
    to[static_cast<size_t>((filter * wide[2] + row) * wide[3] + column)] = from[i];
  }
  Value* made = contents::constant(build, w.type.dtype, wide, to);
  made->name = w.name;
  return made;
}

Value* conv_of_image(const Match& m, Builder& build) {
  const Node& joined = m.node("joined");
  Conv conv = m.root->attributes<Conv>();
  const int64_t axis = joined.attributes<Concat>().axis;
  const Value* w = m["w"];
  if ((axis != 1 && axis != -3) || joined.inputs.size() < 2 || joined.inputs.size() > kMostParts || conv.groups != 1 ||
      conv.auto_pad != AutoPad::kNotSet || w->type.shape.rank != 4 || !contents::is_float(w))
    return nullptr;
  for (size_t i = 0; i < 2; ++i)
    if (conv.dilations.get(i, 1) != 1 || conv.strides.get(i, 1) > kMostSide) return nullptr;
  for (size_t i = 0; i < 4; ++i)
    if (conv.pads.get(i, 0) > kMostSide) return nullptr;
  const auto blocks = blocks_of(joined);
  if (!blocks || blocks->image->type.shape[1].value() > kMostChannels) return nullptr;
  Ints strides, pads;
  for (size_t i = 0; i < 2; ++i) strides.push(conv.strides.get(i, 1) * (i == 0 ? blocks->height : blocks->width));
  for (size_t i = 0; i < 4; ++i) pads.push(conv.pads.get(i, 0) * (i % 2 == 0 ? blocks->height : blocks->width));
  conv.strides = strides;
  conv.pads = pads;
  Values inputs = m.root->inputs;
  inputs[0] = blocks->image;
  inputs[1] = spread_weights(*w, *blocks, build);
  return build.one(op_conv, conv, inputs);
}

std::vector<Rule> make() {
  return {{"conv-of-interlaced-image", "conv(concat(slices of x with steps)) → conv(x) with a larger stride",
           is(op_conv, {is(op_concat, {any("first"), any("second")}).rest().once().as("joined"), constant("w")}).rest(),
           conv_of_image}};
}

}  // namespace

MICA_RULES(interlaced) = {.rank = 14, .make = make};

}  // namespace mica
