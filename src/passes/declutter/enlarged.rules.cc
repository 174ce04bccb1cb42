// A convolution of an image whose pixels are repeated, as decoders have it behind an enlargement by the nearest pixel,
// is a transposed convolution of the small image: the outputs of one remainder modulo the factor see the same few
// pixels with sums of weights. Of 3 x 3 taps at twice the size four pixels are left, and the large image is never made.
#include "ops/conv/conv_transpose.h"
#include "ops/image/resize.h"
#include "ops/move/pad.h"
#include "passes/declutter/parted_conv.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(conv_transpose);
MICA_DECLARE_OP(pad);
MICA_DECLARE_OP(resize);

namespace {

constexpr int kRank = 4;
constexpr int64_t kMostFactor = 4, kMostTaps = 7, kMostSide = 1 << 15;  // sides are walked along
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

// An image of repeated pixels, perhaps with more of them around it. What is around shows the small image's edge, so
// that this is the small image with a border, enlarged, less some pixels at each side.
struct Repeated {
  const Node* resize = nullptr;
  int64_t factors[2] = {1, 1};
  bool border[4] = {};  // of one small pixel, before each axis, then behind each
  int64_t cut[4] = {};  // large pixels
};

// Factors along both axes of an enlargement; false when it is none by whole pixels.
bool factors_of(const Node& node, int64_t (&factors)[2]) {
  const Value* x = node.outputs[0];
  const auto& a = node.attributes<Resize>();
  const Shape &in = node.inputs[0]->type.shape, &out = x->type.shape;
  if (a.mode != ResizeMode::kNearest || in.rank != kRank || !out.known() || !(in[0] == out[0])) return false;
  ResizeAxis axes[kMaxRank];
  ResizeOperands operands;
  if (contents::is_given(node, 2)) operands.scales = node.inputs[2]->contents();
  if (contents::is_given(node, 3)) operands.sizes = node.inputs[3]->contents();
  if (!operands.scales && !operands.sizes) return false;
  std::vector<int64_t> dims{1};  // the batch does not matter
  for (int i = 1; i < kRank; ++i) {
    if (!in[i].is_fixed() || in[i].value() < 1 || in[i].value() > kMostSide) return false;
    dims.push_back(in[i].value());
  }
  if (!resize_axes(a, dims, operands, axes).ok() || !axes[0].same(a) || !axes[1].same(a)) return false;
  if (dims[2] * dims[3] < kLeastPixels) return false;
  for (int i = 0; i < 2; ++i) {
    factors[i] = factor_of(a, axes[2 + i]);
    if (factors[i] < 1 || factors[i] > kMostFactor) return false;
  }
  return factors[0] > 1 || factors[1] > 1;
}

// Within a factor's distance from the edge a mirror shows what the edge does: each pixel stands there so often.
bool find_border(const Node& pad, Repeated& found) {
  const PadMode mode = pad.attributes<Pad>().mode;
  const TensorView* axes = contents::is_given(pad, 3) ? pad.inputs[3]->contents() : nullptr;
  const TensorView* pads = pad.inputs[1]->contents();
  if ((mode != PadMode::kReflect && mode != PadMode::kEdge) || !pads || (contents::is_given(pad, 3) && !axes))
    return false;
  const auto padding = read_padding(*pads, axes, kRank);
  if (!padding.ok()) return false;
  for (int axis = 0; axis < kRank; ++axis)
    for (int side = 0; side < 2; ++side) {
      const int64_t n = side ? padding->after[axis] : padding->before[axis];
      if (n == 0) continue;
      if (axis < 2 || n < 0) return false;
      const int64_t factor = found.factors[axis - 2];
      if (n > factor - (mode == PadMode::kReflect ? 1 : 0)) return false;
      found.border[2 * side + axis - 2] = true;
      found.cut[2 * side + axis - 2] = factor - n;
    }
  return true;
}

bool find(const Value* x, Repeated& found) {
  const Node* node = x->producer;
  const bool padded = node && node->op == &op_pad;
  if (padded) node = node->inputs[0]->producer;
  if (!node || node->op != &op_resize || !factors_of(*node, found.factors)) return false;
  found.resize = node;
  return !padded || find_border(*x->producer, found);
}

// Zeros around a border would be another image.
bool suits(const Repeated& source, const Conv& a) {
  for (size_t i = 0; i < 4; ++i)
    if (source.border[i] && a.pads.get(i, 0) != 0) return false;
  return true;
}

Value* with_border(const Repeated& source, Builder& build) {
  Value* small = source.resize->inputs[0];
  if (std::ranges::none_of(source.border, [](bool b) { return b; })) return small;
  std::vector<int64_t> pads(2 * kRank, 0);
  for (size_t i = 0; i < 4; ++i) pads[i / 2 * kRank + 2 + i % 2] = source.border[i];
  return build.one(op_pad, Pad{.mode = PadMode::kEdge}, {small, build.ints(pads)});
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
  PartedConv parts(m, build);
  const auto& attributes = conv.attributes<Conv>();
  std::vector<Repeated> sources;  // of the parts that are taken
  const auto chosen = [&](const ConvPart& part) {
    const int64_t made = conv.inputs[1]->type.shape[0].value();
    Repeated source;
    if (part.readers > 1 || part.count < kLeastRead || 2 * part.count < made) return false;
    if (!find(part.x, source) || !suits(source, attributes)) return false;
    sources.push_back(source);
    return true;
  };
  if (!parts.take(is_plain, chosen)) return nullptr;
  return parts.sum([&, next = size_t{0}](const ConvPart&, Value* weights, Value* bias) mutable {
    const Repeated& source = sources[next++];
    ConvTranspose a;
    for (int64_t factor : source.factors) a.strides.push(factor);
    for (size_t i = 0; i < 4; ++i) {
      const int64_t taps = weights->type.shape[2 + static_cast<int>(i % 2)].value();
      a.pads.push(taps - 1 - attributes.pads.get(i, 0) + source.cut[i]);
    }
    return build.one(op_conv_transpose, a,
                     {with_border(source, build), repeated_weights(*weights, source.factors, build), bias});
  });
}

std::vector<Rule> make() {
  std::vector<Rule> rules;
  const Pattern resize = is(op_resize, {any("x")}).rest();
  for (const Pattern& x : {resize, is(op_concat, {any("x")}).rest(), is(op_pad, {resize.once()}).rest()})
    rules.push_back({"conv-of-repeated-pixels",
                     "conv of nearest(x) beside y → conv(y) + conv_transpose(x), y may be left out",
                     is(op_conv, {x, constant("w")}).rest(), of_small_image});
  return rules;
}

}  // namespace

// Last: what is around the convolutions has become part of them.
MICA_RULES(enlarged) = {.rank = 22, .make = make, .last = true};

}  // namespace mica
