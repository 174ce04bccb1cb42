// Tokens that are pixels: the hidden layer of some transformers (mix-FFN of SegFormer and PVT v2) is an image between
// two products, for a depthwise convolution mixes neighbours. As convolutions of one pixel the products see the image's
// rows, so that all three may run by rows (runtime/row_chains.h) and what is between them need not leave the caches.
#include <optional>

#include "passes/declutter/pixel_product.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(transpose);

namespace {

constexpr int kImageRank = 4, kTokenRank = 3;

bool is_transposed(const Value* x, const Ints& order) {
  return x->producer && x->producer->op == &op_transpose && contents::has_order(*x->producer, order);
}
bool has_channels_first(const Value* image) { return is_transposed(image, channels_first_order(kImageRank)); }
bool has_channels_last(const Value* pixels) { return is_transposed(pixels, channels_last_order(kImageRank)); }

// Whether `tokens`, [N, H·W, C], are the pixels of `pixels`, [N, H, W, C], all numbers but N.
bool are_pixels(const Value* tokens, const Value* pixels) {
  const Shape &flat = tokens->type.shape, &shape = pixels->type.shape;
  if (!flat.known() || !shape.known() || flat.rank != kTokenRank || shape.rank != kImageRank) return false;
  for (int i = 1; i < kImageRank; ++i)
    if (!shape[i].is_fixed() || shape[i].value() < 1) return false;
  return flat[0] == shape[0] && flat[1].is_fixed() && flat[1].value() % shape[1].value() == 0 &&
         flat[1].value() / shape[1].value() == shape[2].value() && flat[2] == shape[3];
}

// [N, H·W, C] as [N, C, H, W], whose size is like that of [N, …, H, W].
Value* image_of(Value* tokens, int64_t channels, const Shape& like, Builder& build) {
  const int64_t dims[] = {0, like[2].value(), like[3].value(), channels};
  Value* pixels = build.one(op_reshape, Reshape{}, {tokens, build.ints(dims)});
  return build.one(op_transpose, Transpose{.perm = channels_first_order(kImageRank)}, {pixels});
}

// [N, C, H, W] as [N, H·W, C].
Value* tokens_of(Value* image, Builder& build) {
  Value* pixels = build.one(op_transpose, Transpose{.perm = channels_last_order(kImageRank)}, {image});
  const Shape& shape = pixels->type.shape;
  const int64_t dims[] = {0, shape[1].value() * shape[2].value(), shape[3].value()};
  return build.one(op_reshape, Reshape{}, {pixels, build.ints(dims)});
}

bool is_matrix(const Value* w) {
  return w && w->is_constant() && w->type.shape.rank == 2 && contents::is_float(w) && !w->constant->view.empty();
}

// x·w, or x·w + b, of tokens x.
struct Product {
  const Node* node = nullptr;
  std::vector<double> bias;
};

// From a value up to what makes it, as far as nobody else reads what is between.
class Finder {
 public:
  explicit Finder(const Match& m) : readers_(*m.readers) {}

  bool is_own(const Value* x) const { return x->producer && readers_.count(x) == 1 && !readers_.kept(x); }

  // Of tokens that are seen as the image.
  std::optional<Product> product_of_image(const Value* image) const {
    if (!is_own(image) || !has_channels_first(image)) return {};
    const Value* pixels = image->producer->inputs[0];
    if (!is_own(pixels) || pixels->producer->op != &op_reshape) return {};
    const Value* tokens = pixels->producer->inputs[0];
    return are_pixels(tokens, pixels) && is_own(tokens) ? product(tokens) : std::nullopt;
  }

 private:
  std::optional<Product> product(const Value* tokens) const {
    Product found;
    const Value* made = tokens;
    if (tokens->producer->op == &op_add) {
      const Values& terms = tokens->producer->inputs;
      const bool swapped = terms[0]->is_constant();
      const Value* bias = terms[swapped ? 0 : 1];
      made = terms[swapped ? 1 : 0];
      if (!bias->is_constant() || !contents::is_float(bias) || !is_own(made) || !(made->type == tokens->type))
        return {};
      found.bias = contents::along_axis(*bias, kTokenRank, kTokenRank - 1, tokens->type.shape[2].value());
      if (found.bias.empty()) return {};
    }
    found.node = made->producer;
    return found.node->op == &op_matmul && is_matrix(found.node->inputs[1]) ? std::optional(found) : std::nullopt;
  }

  const Readers& readers_;
};

// The product as a convolution of an image whose size is like that of [N, …, H, W].
Value* as_conv(const Product& product, const Shape& like, Builder& build) {
  const std::string name = build.name();
  build.set_name(product.node->name);
  const Value* w = product.node->inputs[1];
  Values inputs{image_of(product.node->inputs[0], w->type.shape[0].value(), like, build),
                contents::conv_weights(build, *w)};
  if (!product.bias.empty())
    inputs.push_back(contents::constant(build, w->type.dtype, std::array{w->type.shape[1].value()}, product.bias));
  Value* made = build.one(op_conv, Conv{}, inputs);
  build.set_name(name);
  return made;
}

bool is_depthwise(const Node& node) {
  if (node.op != &op_conv || !node.inputs[0] || !node.inputs[1] || !node.inputs[1]->is_constant()) return false;
  const Shape &w = node.inputs[1]->type.shape, &x = node.inputs[0]->type.shape;
  return w.rank == kImageRank && x.known() && w[0] == x[1] && w[0].is(node.attributes<Conv>().groups);
}

// The same nodes, from the last to the first, on another operand, with their names.
Value* again_on(Value* x, std::span<const Node* const> nodes, Builder& build) {
  const std::string name = build.name();
  for (size_t i = nodes.size(); i-- > 0;) {
    Values inputs = nodes[i]->inputs;
    inputs[0] = x;
    build.set_name(nodes[i]->name);
    x = build.again(*nodes[i], inputs);
  }
  build.set_name(name);
  return x;
}

Value* products_as_convs(const Match& m, Builder& build) {
  Value *x = m["image"], *w = m["w"];
  if (!is_matrix(w) || !has_channels_last(m["pixels"]) || !are_pixels(m["tokens"], m["pixels"])) return nullptr;
  const Finder finder(m);
  std::vector<const Node*> hidden;  // the convolution and element-wise work behind it
  for (; finder.is_own(x) && is_unary(*x->producer->op); x = x->producer->inputs[0]) hidden.push_back(x->producer);
  if (!finder.is_own(x) || !is_depthwise(*x->producer)) return nullptr;
  hidden.push_back(x->producer);
  const Value* mixed = x->producer->inputs[0];
  const std::optional<Product> first = finder.product_of_image(mixed);
  if (!first) return nullptr;
  Value* y = again_on(as_conv(*first, mixed->type.shape, build), hidden, build);
  return tokens_of(build.one(op_conv, Conv{}, {y, contents::conv_weights(build, *w)}), build);
}

// So that both become one (composed.rules.cc).
Value* product_before_product(const Match& m, Builder& build) {
  const Node& conv = *m.root;
  if (!pixel_product::is_one(conv)) return nullptr;
  const Value* image = conv.inputs[0];
  const std::optional<Product> first = Finder(m).product_of_image(image);
  if (!first || first->node->inputs[1]->type.dtype != DType::kF32) return nullptr;
  const int64_t read = first->node->inputs[1]->type.shape[0].value(), between = pixel_product::channels_read(conv);
  if (!pixel_product::are_better_one(read, between, pixel_product::channels_made(conv))) return nullptr;
  return again_on(as_conv(*first, image->type.shape, build), std::array{&conv}, build);
}

// What is added to a convolution's pixels goes to the convolution: a bias, or as many tokens that come from elsewhere.
Value* sum_of_images(const Match& m, Builder& build) {
  Value *image = m["image"], *term = m["term"];
  const Value *tokens = m["tokens"], *sum = m.root->outputs[0];
  if (!has_channels_last(m["pixels"]) || !are_pixels(tokens, m["pixels"]) || !(sum->type == tokens->type))
    return nullptr;
  Value* other = nullptr;
  if (!term->is_constant()) {
    if (!(term->type == tokens->type)) return nullptr;
    other = image_of(term, tokens->type.shape[2].value(), image->type.shape, build);
  } else {
    const int64_t dims[] = {tokens->type.shape[2].value(), 1, 1};
    const std::vector<double> bias = contents::along_axis(*term, kTokenRank, kTokenRank - 1, dims[0]);
    if (bias.empty()) return nullptr;
    other = contents::constant(build, term->type.dtype, dims, bias);
  }
  return tokens_of(build.one(op_add, {image, other}), build);
}

std::vector<Rule> make() {
  const auto tokens = [](const Pattern& image) {
    return is(op_reshape, {is(op_transpose, {image.as("image")}).once().as("pixels"), any("shape")})
        .once()
        .as("tokens");
  };
  return {{"products-around-depthwise", "matmul(tokens(depthwise(image(matmul(x, w)))), v) → tokens of convolutions",
           is(op_matmul, {tokens(any("image")), constant("w")}), products_as_convs},
          {"product-of-pixels-before-product", "conv(image(matmul(x, w))) of one pixel → conv(conv(image(x)))",
           is(op_conv, {is(op_transpose, {any("pixels")}).once(), constant("v")}).rest(), product_before_product},
          {"sum-of-images", "tokens(conv) + x → tokens(conv + image(x))",
           is(op_add, {tokens(is(op_conv, {any("x"), any("v")}).rest().once()), any("term")}).either(), sum_of_images}};
}

}  // namespace

// Last: other tables look for products, and for sums of tokens.
MICA_RULES(tokens) = {.rank = 21, .make = make, .last = true};

}  // namespace mica
