// Products over a few planes of a picture, as attention that mixes its heads has them, spelled as a linear layer behind
// a transposition: a pointwise convolution, which reads planes where they lie.
#include "kernels/conv/conv.h"
#include "ops/conv/conv.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(transpose);

namespace {

constexpr int kRank = 4;

Value* convolved(const Match& m, Builder& build) {
  Value *x = m["x"], *w = m["w"];
  const Shape &from = x->type.shape, &shape = w->type.shape;
  if (from.rank != kRank || !contents::has_order(m.node("last"), channels_last_order(kRank)) ||
      !contents::has_order(*m.root, channels_first_order(kRank)))
    return nullptr;
  if (shape.rank != 2 || !shape.fixed() || x->type.dtype != DType::kF32 || w->type.dtype != DType::kF32) return nullptr;
  const int64_t channels = shape[0].value(), made = shape[1].value();
  if (!from[1].is(channels) || channels < 1 || channels > kMostPlanes || made < 1) return nullptr;
  Values inputs{x, contents::conv_weights(build, *w)};
  if (m.has("b")) {
    if (!(m["sum"]->type == m["product"]->type)) return nullptr;
    const std::vector<double> bias = contents::along_axis(*m["b"], kRank, kRank - 1, made);
    if (bias.empty()) return nullptr;
    inputs.push_back(contents::constant(build, DType::kF32, std::vector<int64_t>{made}, bias));
  }
  return build.one(op_conv, Conv{}, inputs);
}

std::vector<Rule> make() {
  const Pattern last = is(op_transpose, {any("x")}).once().as("last");
  const Pattern product = is(op_matmul, {last, constant("w")}).once().as("product");
  const Pattern sum = is(op_add, {product, constant("b")}).either().once().as("sum");
  std::vector<Rule> rules;
  for (const Pattern& result : {product, sum})
    rules.push_back({"conv-of-planes", "transpose(matmul(transpose(x), w)) over few channels → conv(x, wᵀ)",
                     is(op_transpose, {result}), convolved, &op_conv});
  return rules;
}

}  // namespace

MICA_RULES(planes) = {.rank = 2, .make = make};

}  // namespace mica
