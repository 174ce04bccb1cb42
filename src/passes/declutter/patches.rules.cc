// Pixels of patches: networks that mix attention with convolutions cut an image into patches, [N, C, height, width] to
// [pixels of a patch, patches, C], and back, by several reshapes and transpositions. They become one transposition that
// moves whole pixels, beside one of an image whose channels lie innermost, which costs nothing.
#include <optional>

#include "ops/move/concat.h"
#include "ops/move/transpose.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(transpose);

namespace {

using Order = std::vector<size_t>;

Order order_of(const Node& move) {
  const auto order = contents::order_of(move);
  return {order.begin(), order.end()};
}

Value* transposed(Value* x, const Order& order, Builder& build) {
  Transpose transpose;
  for (size_t axis : order) transpose.perm.push(static_cast<int64_t>(axis));
  return build.one(op_transpose, transpose, {x});
}

Value* reshaped(Value* x, const std::vector<int64_t>& dims, Builder& build) {
  return build.one(op_reshape, Reshape{}, {x, build.ints(dims)});
}

// Numbers of at least 1, or nothing.
std::vector<int64_t> fixed_dims(const Value* x) {
  std::vector<int64_t> dims;
  if (!x->type.shape.known()) return {};
  for (Dim d : x->type.shape.span()) {
    if (!d.is_fixed() || d.value() < 1) return {};
    dims.push_back(d.value());
  }
  return dims;
}

// Channels of an image go behind its pixels.
Order outward(size_t rank) {
  const Ints order = channels_last_order(static_cast<int>(rank));
  return {order.begin(), order.end()};
}
Order inward(size_t rank) {
  const Ints order = channels_first_order(static_cast<int>(rank));
  return {order.begin(), order.end()};
}

// What a convolution makes, perhaps with element-wise work behind it.
bool of_convolution(const Value* x) {
  const Node* node = x->producer;
  if (node && is_unary(*node->op) && node->inputs[0]) node = node->inputs[0]->producer;
  return node && node->op == &op_conv;
}

// An axis that two shapes of the same elements have in common parts: it belongs to axis `a` of one and `b` of the
// other.
struct Part {
  int64_t dim;
  size_t a, b;
};
std::optional<std::vector<Part>> common_parts(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<Part> parts;
  size_t i = 0, j = 0;
  int64_t left = 1, right = 1;  // of axes i - 1 and j - 1
  for (;;) {
    while (left == 1 && i < a.size()) left = a[i++];
    while (right == 1 && j < b.size()) right = b[j++];
    if (left == 1 || right == 1) break;
    const int64_t dim = left < right ? left : right;
    if (left % dim != 0 || right % dim != 0) return {};
    parts.push_back({dim, i - 1, j - 1});
    left /= dim;
    right /= dim;
  }
  if (left != right || parts.size() > kMaxRank || parts.empty()) return {};
  return parts;
}

Value* around_reshape(const Match& m, Builder& build) {
  const Node &first = m.node("first"), &second = *m.root;
  const auto a = fixed_dims(m["first"]), b = fixed_dims(m["joined"]), out = fixed_dims(second.outputs[0]);
  if (a.empty() || b.empty() || out.empty()) return nullptr;
  const Order from = order_of(first), to = order_of(second);
  if (to.size() > 3 && to == inward(to.size())) return nullptr;
  if (from.size() > 3 && from == outward(from.size()) && of_convolution(m["x"])) return nullptr;
  const auto parts = common_parts(a, b);
  if (!parts) return nullptr;
  std::vector<int64_t> dims;
  Order places(parts->size()), order;  // of the parts in x; of the result
  for (size_t axis = 0; axis < from.size(); ++axis)
    for (size_t p = 0; p < parts->size(); ++p)
      if (from[(*parts)[p].a] == axis) {
        places[p] = dims.size();
        dims.push_back((*parts)[p].dim);
      }
  for (size_t axis : to)
    for (size_t p = 0; p < parts->size(); ++p)
      if ((*parts)[p].b == axis) order.push_back(places[p]);
  return reshaped(transposed(reshaped(m["x"], dims, build), order, build), out, build);
}

// The axis of `dims` that is the channels of an image of `image`'s shape; dims.size() when there is none.
size_t channels_in(const std::vector<int64_t>& dims, const std::vector<int64_t>& image) {
  int64_t before = 1;
  for (size_t i = 0; i < dims.size(); before *= dims[i++])
    if (before == image[0] && dims[i] == image[1] && image[1] > 1) return i;
  return dims.size();
}

Value* patches_of_image(const Match& m, Builder& build) {
  const auto image = fixed_dims(m["x"]), dims = fixed_dims(m["parted"]);
  if (image.size() < 4 || dims.empty() || !of_convolution(m["x"])) return nullptr;
  const Order order = order_of(*m.root);
  const size_t channels = channels_in(dims, image);
  if (channels == dims.size() || order.back() != channels) return nullptr;
  std::vector<int64_t> parted;
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != channels) parted.push_back(dims[i]);
  parted.push_back(image[1]);
  Order pixels;
  for (size_t axis : order) pixels.push_back(axis == channels ? dims.size() - 1 : axis > channels ? axis - 1 : axis);
  return transposed(reshaped(transposed(m["x"], outward(image.size()), build), parted, build), pixels, build);
}

Value* image_of_patches(const Match& m, Builder& build) {
  const auto image = fixed_dims(m["image"]), dims = fixed_dims(m["moved"]);
  if (image.size() < 4 || dims.empty()) return nullptr;
  const Order order = order_of(m.node("moved"));
  const size_t channels = channels_in(dims, image);
  if (channels == dims.size() || order[channels] + 1 != order.size()) return nullptr;
  Order pixels;
  for (size_t i = 0; i < order.size(); ++i)
    if (i != channels) pixels.push_back(order[i]);
  pixels.push_back(order[channels]);
  std::vector<int64_t> innermost;
  for (size_t axis : outward(image.size())) innermost.push_back(image[axis]);
  Values inputs = m.root->inputs;
  inputs[0] = transposed(reshaped(transposed(m["x"], pixels, build), innermost, build), inward(image.size()), build);
  return build.add(op_conv, m.root->attributes_blob.data(), inputs, 1)[0];
}

// Detectors join the pixels of their images, [N, C, height · width] each, and put the channels last.
Value* joined_images(const Match& m, Builder& build) {
  const Node& joined = m.node("joined");
  const int64_t axis = joined.attributes<Concat>().axis;
  const Shape& all = m["joined"]->type.shape;
  if (all.rank != 3 || !all[1].is_fixed() || (axis != 2 && axis != -1) || order_of(*m.root) != Order{0, 2, 1})
    return nullptr;
  Values parts;
  for (Value* part : joined.inputs) {
    if (!part->producer || part->producer->op != &op_reshape) return nullptr;
    Value* image = part->producer->inputs[0];
    const Shape &from = image->type.shape, &to = part->type.shape;
    if (!from.known() || from.rank < 4 || to.rank != 3 || !(to[0] == from[0]) || !(to[1] == from[1])) return nullptr;
    parts.push_back(image);
  }
  const int64_t dims[] = {0, -1, all[1].value()};
  Value* flat = build.ints(dims);
  for (Value*& part : parts)
    part = build.one(op_reshape, Reshape{},
                     {transposed(part, outward(static_cast<size_t>(part->type.shape.rank)), build), flat});
  return build.one(op_concat, Concat{.axis = 1}, parts);
}

std::vector<Rule> make() {
  const auto moved = [](Pattern x) { return is(op_transpose, {std::move(x)}).once(); };
  return {
      {"merge-transposes-around-reshape", "transpose(reshape(transpose(x))) → reshape(transpose(reshape(x)))",
       is(op_transpose, {is(op_reshape, {moved(any("x")).as("first"), any("shape")}).once().as("joined")}),
       around_reshape},
      {"patches-of-image", "transpose(reshape(conv)) → transpose(reshape(transpose(conv))) that moves pixels",
       is(op_transpose, {is(op_reshape, {any("x"), any("shape")}).once().as("parted")}), patches_of_image},
      {"image-of-patches", "conv(reshape(transpose(x))) → conv(transpose(reshape(transpose(x)))) that moves pixels",
       is(op_conv, {is(op_reshape, {moved(any("x")).as("moved"), any("shape")}).once().as("image")}).rest(),
       image_of_patches},
      {"channels-last-of-joined-images", "transpose(concat(reshape(x) …)) → concat(reshape(transpose(x)) …)",
       is(op_transpose, {is(op_concat, {any("first"), any("second")}).rest().once().as("joined")}), joined_images},
  };
}

}  // namespace

MICA_RULES(patches) = {.rank = 13, .make = make};

}  // namespace mica
