// Depthwise convolutions that make several channels of each one.
#include "ops/conv/conv.h"
#include "ops/move/interleave.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(interleave);

namespace {

constexpr int64_t kMostOfOne = 8, kLeastChannels = 16;

// The depthwise kernel keeps what taps of a row share in registers, which pays for a copy of the input.
Value* repeat_channels(const Match& m, Builder& build) {
  const Node& node = *m.root;
  Value *x = m["x"], *w = node.inputs[1];
  const Shape& shape = w->type.shape;
  if (!w->constant || w->type.dtype != DType::kF32 || x->type.dtype != DType::kF32 || !shape[1].is(1)) return nullptr;
  const int64_t groups = node.attributes<Conv>().groups, made = shape[0].value(), each = groups ? made / groups : 0;
  if (each < 2 || each > kMostOfOne || made < kLeastChannels || groups < 2 || shape.back().is(1)) return nullptr;
  Conv attributes = node.attributes<Conv>();
  attributes.groups = made;
  Values inputs = node.inputs;
  inputs[0] = build.one(op_interleave, Interleave{.axis = 1}, Values(static_cast<size_t>(each), x));
  return build.one(op_conv, attributes, inputs);
}

std::vector<Rule> make() {
  return {{"repeat-channels", "conv(x) of one channel to several → depthwise conv(interleave(x, x, …))",
           is(op_conv, {any("x"), constant("w")}).rest(), repeat_channels, &op_interleave}};
}

}  // namespace

MICA_RULES(multipliers) = {.rank = 8, .make = make};

}  // namespace mica
