// A convolution of an image whose pixels are repeated, as decoders have it behind an enlargement by the nearest pixel,
// is a transposed convolution of the small image: the outputs of one remainder modulo the factor see the same few
// pixels with sums of weights. Of 3 x 3 taps at twice the size four pixels are left, and the large image is never made.
#include "ops/conv/conv_transpose.h"
#include "ops/image/resize.h"
#include "passes/declutter/parted_conv.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(conv_transpose);
MICA_DECLARE_OP(resize);

namespace {

constexpr int kRank = 4;
constexpr int64_t kMostFactor = 4, kMostTaps = 7;
// Below, the transposed convolution was no faster: tiles of few pixels, vectors of few channels (docs/attempts.md).
constexpr int64_t kLeastPixels = 192, kLeastRead = 32, kLeastMade = 16;

bool is_plain(const Node& node) {
  if (node.op != &op_conv || !node.inputs[1]->is_constant() || node.inputs[1]->type.dtype != DType::kF32) return false;
  const auto& a = node.attributes<Conv>();
  const Shape& w = node.inputs[1]->type.shape;
  if (a.groups != 1 || a.auto_pad != AutoPad::kNotSet || w.rank != kRank || w[0].value() < kLeastMade) return false;
  const auto is_one = [](int64_t n) { return n == 1; };
  if (!std::ranges::all_of(a.strides, is_one) || !std::ranges::all_of(a.dilations, is_one)) return false;
  for (size_t i = 0; i < 4; ++i) {
    const int64_t taps = w[2 + static_cast<int>(i % 2)].value();
    if (taps < 2 || taps > kMostTaps || a.pads.get(i, 0) < 0 || a.pads.get(i, 0) >= taps) return false;
  }
  return true;
}

// How often each pixel stands in a row, or a row in the image: output i shows input i / factor. 0 when it is not so.
int64_t factor_of(const Resize& a, const ResizeAxis& axis) {
  if (axis.in < 1 || axis.out % axis.in != 0 || resize_taps(a, axis) != 1) return 0;
  const int64_t factor = axis.out / axis.in;
  for (int64_t i = 0, index = 0; i < axis.out; ++i) {
    double weight = 0;
    if (!resize_sample(a, axis, i, &index, &weight) || index != i / factor || weight != 1) return 0;
  }
  return factor;
}

// Factors along both axes of an enlargement; false when it is none by whole pixels.
bool factors_of(const Value* x, int64_t (&factors)[2]) {
  if (!x->producer || x->producer->op != &op_resize) return false;
  const Node& node = *x->producer;
  const auto& a = node.attributes<Resize>();
  const Shape &in = node.inputs[0]->type.shape, &out = x->type.shape;
  if (a.mode != ResizeMode::kNearest || in.rank != kRank || !in.fixed() || !out.fixed() || in[1].is(0)) return false;
  ResizeAxis axes[kMaxRank];
  ResizeOperands operands;
  if (contents::is_given(node, 2)) operands.scales = node.inputs[2]->contents();
  if (contents::is_given(node, 3)) operands.sizes = node.inputs[3]->contents();
  if (!operands.scales && !operands.sizes) return false;
  const auto dims = contents::dims_of(*node.inputs[0]);
  if (!resize_axes(a, dims, operands, axes).ok() || !axes[0].same(a) || !axes[1].same(a)) return false;
  if (dims[2] < 1 || dims[3] < 1 || dims[2] > INT32_MAX / dims[3] || dims[2] * dims[3] < kLeastPixels) return false;
  for (int i = 0; i < 2; ++i) {
    factors[i] = factor_of(a, axes[2 + i]);
    if (factors[i] < 1 || factors[i] > kMostFactor) return false;
  }
  return factors[0] > 1 || factors[1] > 1;
}

// With K taps and the factor f, tap t of f + K - 1 has the weights k of which t - (K - 1) + k is one of 0 … f - 1; the
// channels change places.
Value* repeated_weights(const Value& w, const int64_t (&factors)[2], Builder& build) {
  const auto dims = contents::dims_of(w);
  const std::vector<double> from = contents::numbers(w);
  const int64_t rows = dims[2] + factors[0] - 1, columns = dims[3] + factors[1] - 1;
  std::vector<double> to(static_cast<size_t>(dims[0] * dims[1] * rows * columns));
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t l = at % dims[3], k = at / dims[3] % dims[2], filter = at / (dims[3] * dims[2]);
    const int64_t plane = filter % dims[1] * dims[0] + filter / dims[1];
    for (int64_t y = 0; y < factors[0]; ++y)
      for (int64_t x = 0; x < factors[1]; ++x) {
        const int64_t row = y + dims[2] - 1 - k, column = x + dims[3] - 1 - l;
        to[static_cast<size_t>((plane * rows + row) * columns + column)] += from[i];
      }
  }
  Value* made = contents::constant(build, w.type.dtype, std::array{dims[1], dims[0], rows, columns}, to);
  made->name = w.name;
  return made;
}

Value* of_small_image(const Match& m, Builder& build) {
  const Node& conv = *m.root;
  if (!is_plain(conv)) return nullptr;
  PartedConv parts(conv, build);
  const auto chosen = [&](const ConvPart& part) {
    int64_t factors[2];
    return part.readers == 1 && part.count >= kLeastRead && 2 * part.count >= conv.inputs[1]->type.shape[0].value() &&
           factors_of(part.x, factors);
  };
  if (!parts.take(is_plain, chosen)) return nullptr;
  const auto& pads = conv.attributes<Conv>().pads;
  return parts.sum([&](const ConvPart& part, Value* weights, Value* bias) -> Value* {
    ConvTranspose a;
    int64_t factors[2];
    if (!factors_of(part.x, factors)) return nullptr;
    for (int i = 0; i < 2; ++i) a.strides.push(factors[i]);
    for (size_t i = 0; i < 4; ++i)
      a.pads.push(weights->type.shape[2 + static_cast<int>(i % 2)].value() - 1 - pads.get(i, 0));
    return build.one(op_conv_transpose, a,
                     {part.x->producer->inputs[0], repeated_weights(*weights, factors, build), bias});
  });
}

std::vector<Rule> make() {
  std::vector<Rule> rules;
  for (const Pattern& x : {is(op_resize, {any("x")}).rest(), is(op_concat, {any("x")}).rest()})
    rules.push_back({"conv-of-repeated-pixels",
                     "conv of nearest(x) beside y → conv(y) + conv_transpose(x), y may be left out",
                     is(op_conv, {x, constant("w")}).rest(), of_small_image});
  return rules;
}

}  // namespace

// Last: what is around the convolutions has become part of them.
MICA_RULES(enlarged) = {.rank = 22, .make = make, .last = true};

}  // namespace mica
