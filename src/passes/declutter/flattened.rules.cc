// Images between tokens: networks that mix attention with convolutions turn [N, C, height, width] into [N, pixels, C],
// a reshape before a transposition (the way back is that of transposes.rules.cc). In the other order the transposition
// is that of an image whose channels lie innermost, which costs nothing.
#include "ops/move/reshape.h"
#include "ops/move/transpose.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(transpose);

namespace {

// [N, C, pixels…] beside [N, C, pixels], all numbers but N.
bool flattens(const Shape& image, const Shape& flat) {
  if (!image.known() || !flat.known() || image.rank < 4 || flat.rank != 3) return false;
  if (!(image[0] == flat[0]) || !(image[1] == flat[1]) || !image[1].is_fixed() || !flat[2].is_fixed()) return false;
  for (int i = 2; i < image.rank; ++i)
    if (!image[i].is_fixed() || image[i].is(0)) return false;
  return !image[1].is(0);
}

Value* tokens_of_image(const Match& m, Builder& build) {
  const Shape& image = m["x"]->type.shape;
  if (!contents::swaps_last_two(*m.root) || !flattens(image, m["flat"]->type.shape)) return nullptr;
  const Transpose outward{.perm = channels_last_order(image.rank)};
  const Shape& flat = m["flat"]->type.shape;
  return contents::reshaped(build, build.one(op_transpose, outward, {m["x"]}), Shape{flat[0], flat[2], flat[1]});
}

// Where a convolution's result is flattened, element-wise work belongs to the convolution.
Value* before_flattening(const Match& m, Builder& build) {
  const Node& flat = m.node("flat");
  if (!(m.root->outputs[0]->type == m["flat"]->type)) return nullptr;
  Value* made = build.again(*m.root, {m["image"]});
  return build.again(flat, {made, flat.inputs[1]});
}

std::vector<Rule> make() {
  std::vector<Rule> rules{{"tokens-of-image", "transpose(reshape(x)) of an image → reshape(transpose(x))",
                           is(op_transpose, {is(op_reshape, {any("x"), any("shape")}).once().as("flat")}),
                           tokens_of_image}};
  const Pattern conv = is(op_conv, {any("x"), any("w")}).rest().once();
  const auto flat = [](const Pattern& image) {
    return is(op_reshape, {image.as("image"), any("shape")}).once().as("flat");
  };
  for (const auto& row : all_op()) {
    if (!is_unary(*row.definition)) continue;
    rules.push_back({"unary-before-flattening", "f(reshape(conv)) → reshape(f(conv))",
                     is(*row.definition, {flat(conv)}), before_flattening});
    rules.push_back({"unary-before-flattening-tokens", "f(reshape(transpose(conv))) → reshape(f(transpose(conv)))",
                     is(*row.definition, {flat(is(op_transpose, {conv}).once())}), before_flattening});
  }
  return rules;
}

}  // namespace

MICA_RULES(flattened) = {.rank = 3, .make = make};

}  // namespace mica
