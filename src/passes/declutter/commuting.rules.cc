// A convolution of one pixel mixes channels, an average or a resize mixes pixels: both are linear, and either may come
// first. The product goes where there are fewer pixels: behind an average, in front of an enlargement, also when that
// is one of several images that are put side by side and reduced together, as segmentation heads and pyramids of
// features do.
#include "ops/image/resize.h"
#include "ops/pool/pool.h"
#include "passes/declutter/parted_conv.h"
#include "passes/declutter/pixel_product.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(average_pool);
MICA_DECLARE_OP(global_average_pool);
MICA_DECLARE_OP(resize);

namespace {

// --- Averages ---

// An average reads each channel of its image: with fewer results than this, a product is no more work than that.
constexpr int64_t kLeastMade = 16;

// Whether the average of a constant image is the constant.
bool keeps_constants(const Node& pool) {
  if (pool.op == &op_global_average_pool) return true;
  const auto& a = pool.attributes<AveragePool>();
  return a.auto_pad == AutoPad::kNotSet && !a.ceil_mode &&
         std::ranges::all_of(a.pads, [](int64_t p) { return p == 0; });
}

Value* average_first(const Match& m, Builder& build) {
  const Node &conv = m.node("product"), &pool = *m.root;
  if (!pixel_product::is_one(conv) || pixel_product::channels_made(conv) < kLeastMade) return nullptr;
  const int64_t before = pixel_product::pixels(m["product"]), after = pixel_product::pixels(pool.outputs[0]);
  if (before < 1 || after < 1 || after > before / 2) return nullptr;
  if (pixel_product::has_bias(conv) && !keeps_constants(pool)) return nullptr;
  Values inputs = conv.inputs;
  inputs[0] = build.again(pool, {conv.inputs[0]});
  return build.again(conv, inputs);
}

// --- Enlargements ---

// What a number costs that a resize makes, and one that is added or activated in a pass of its own, in multiply-adds of
// a product. On Zen 3 with AVX2 (48 multiply-adds a nanosecond) these passes over memory took up to 1.4 and 0.4 ns, 67
// and 20 multiply-adds; more here, since wider vectors multiply faster.
constexpr double kResizedCost = 100, kPassCost = 40;

// Whether `x` is an enlarged image of the same channels, whose samples' weights have the sum 1.
bool is_enlarged(const Value* x) {
  if (!x->producer || x->producer->op != &op_resize) return false;
  const Node& resize = *x->producer;
  const Shape &in = resize.inputs[0]->type.shape, &out = x->type.shape;
  const auto& a = resize.attributes<Resize>();
  if (a.coordinates == Coordinates::kTfCropAndResize || a.policy != AspectPolicy::kStretch) return false;
  const int64_t before = pixel_product::pixels(resize.inputs[0]), after = pixel_product::pixels(x);
  return before > 0 && after > 0 && before <= after / 2 && in[0] == out[0] && in[1] == out[1];
}

// The same resize of an image of other channels. Scales may be for all axes, sizes only for those of space.
Value* enlarged(const Node& resize, Value* x, Builder& build) {
  if (!contents::is_given(resize, 3)) return build.again(resize, {x, nullptr, resize.inputs[2]});
  Resize a = resize.attributes<Resize>();
  a.axes = {};
  std::vector<int64_t> sizes;
  const Shape& out = resize.outputs[0]->type.shape;
  for (int i = 2; i < out.rank; ++i) {
    a.axes.push(i);
    sizes.push_back(out[i].value());
  }
  return build.one(op_resize, a, {x, nullptr, nullptr, build.ints(sizes)});
}

// Those that read the part share what it costs to make.
bool pays(const ConvPart& part, const Node& conv) {
  const auto made = static_cast<double>(pixel_product::channels_made(conv)), count = static_cast<double>(part.count);
  const auto before = static_cast<double>(pixel_product::pixels(part.x->producer->inputs[0])),
             after = static_cast<double>(pixel_product::pixels(part.x));
  const double more = made - count / static_cast<double>(part.readers);
  return count * made * (1 - before / after) > kResizedCost * std::fmax(0, more) + kPassCost * made;
}

Value* enlarged_last(const Match& m, Builder& build) {
  if (!pixel_product::is_one(*m.root)) return nullptr;
  PartedConv parts(m, build);
  if (!parts.take(pixel_product::is_one, [&](const ConvPart& p) { return is_enlarged(p.x) && pays(p, *m.root); }))
    return nullptr;
  return parts.sum([&](const ConvPart& part, Value* weights, Value* bias) {
    const Node& resize = *part.x->producer;
    return enlarged(resize, build.one(op_conv, Conv{}, {resize.inputs[0], weights, bias}), build);
  });
}

std::vector<Rule> make() {
  const Pattern product = is(op_conv, {any("x"), constant("w")}).rest().once().as("product");
  const auto reads = [](const Pattern& x) { return is(op_conv, {x, constant("w")}).rest(); };
  std::vector<Rule> rules;
  for (const OpDef* pool : {&op_average_pool, &op_global_average_pool})
    rules.push_back({"average-before-product", "average(conv of one pixel) → conv(average(x))", is(*pool, {product}),
                     average_first});
  for (const Pattern& x : {is(op_resize, {any("x")}).rest(), is(op_concat, {any("x")}).rest()})
    rules.push_back({"product-before-resize",
                     "conv of one pixel of larger(x) beside y → conv(y) + larger(conv(x)), y may be left out", reads(x),
                     enlarged_last});
  return rules;
}

}  // namespace

// Last: what is around the convolutions has become part of them.
MICA_RULES(commuting) = {.rank = 22, .make = make, .last = true};

}  // namespace mica
