// Depth to space behind a convolution: its channels in the order in which pixels of the result are runs of memory.
#include <algorithm>

#include "ops/conv/conv.h"
#include "ops/move/blocks.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(depth_to_space);

namespace {

// Output channel c·b² + k of the weights, or of the bias, becomes channel k·C + c.
Value* with_places_outside(Builder& build, const Value& list, int64_t area) {
  const std::vector<double> from = contents::numbers(list);
  std::vector<double> to(from.size());
  const auto rows = static_cast<size_t>(list.type.shape[0].value()), places = static_cast<size_t>(area);
  const size_t each = from.size() / rows, channels = rows / places;
  for (size_t row = 0; row < rows; ++row) {
    const size_t moved = row % places * channels + row / places;
    for (size_t i = 0; i < each; ++i) to[moved * each + i] = from[row * each + i];
  }
  Value* value = contents::constant(build, list.type.dtype, contents::dims_of(list), to);
  value->name = list.name;
  return value;
}

bool has_places_inside(const Node& node) { return node.attributes<BlockMove>().order == BlockOrder::kCrd; }

Value* order_channels(const Match& m, Builder& build) {
  const Node& conv = m.node("conv");
  const Value* bias = conv.inputs.size() > 2 ? conv.inputs[2] : nullptr;
  BlockMove move = m.root->attributes<BlockMove>();
  const int64_t made = m["w"]->type.shape[0].value(), area = move.block * move.block;
  if (conv.attributes<Conv>().groups != 1 || !contents::is_float(m["w"]) || (bias && !bias->is_constant()))
    return nullptr;
  if (made == 0 || made % area != 0 || made == area) return nullptr;
  // Outputs of the graph have planes, where neighbours come from places.
  if (std::ranges::count(build.graph().outputs, m.root->outputs[0]) > 0) return nullptr;
  Values inputs = conv.inputs;
  inputs[1] = with_places_outside(build, *m["w"], area);
  if (bias) inputs[2] = with_places_outside(build, *bias, area);
  move.order = BlockOrder::kDcr;
  return build.one(op_depth_to_space, move, {build.one(op_conv, conv.attributes<Conv>(), inputs)});
}

std::vector<Rule> make() {
  const Pattern conv = is(op_conv, {any("x"), constant("w")}).rest().once().as("conv");
  return {{"order-shuffled-channels", "depth_to_space(conv(x)) of places inside channels → … of channels inside places",
           is(op_depth_to_space, {conv}).where(has_places_inside), order_channels}};
}

}  // namespace

MICA_RULES(pixel_shuffles) = {.rank = 8, .make = make};

}  // namespace mica
