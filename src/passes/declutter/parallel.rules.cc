// Sums of linear work on one input, as networks have them that are trained with several branches (RepVGG, MobileOne):
// one convolution whose weights are the sum.
#include "ops/conv/conv.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(mul);

namespace {

// scale · x + shift by channel, of an operand of a sum.
struct Scaled {
  Value* x = nullptr;
  std::vector<double> scale, shift;
};

bool is_binary(const Value& v, const OpDef& op) { return v.producer && v.producer->op == &op; }

// The numbers by channel of the constant among two inputs, and the other one; empty when there is none.
std::vector<double> channel_constant(const Node& node, Value*& other) {
  const Shape& shape = node.outputs[0]->type.shape;
  if (!shape.known() || shape.rank < 3 || !shape[1].is_fixed()) return {};
  for (size_t i = 0; i < 2; ++i) {
    const Value* c = node.inputs[i];
    if (!c || !c->is_constant()) continue;
    other = node.inputs[1 - i];
    if (other->type == node.outputs[0]->type) return contents::along_axis(*c, shape.rank, 1, shape[1].value());
  }
  return {};
}

// x · s + t or x · s.
bool read_scaled(Value& v, Scaled& found) {
  Value* product = &v;
  if (is_binary(v, op_add)) found.shift = channel_constant(*v.producer, product);
  if (!is_binary(*product, op_mul)) return false;
  found.scale = channel_constant(*product->producer, found.x);
  if (found.scale.empty() || (product != &v && found.shift.empty())) return false;
  found.shift.resize(found.scale.size(), 0.0);
  return true;
}

// A convolution whose weights and bias are known.
bool is_plain_conv(const Value& v) {
  if (!is_binary(v, op_conv)) return false;
  const Node& node = *v.producer;
  const bool bias_known = node.inputs.size() < 3 || !node.inputs[2] || node.inputs[2]->is_constant();
  return node.inputs[1]->is_constant() && contents::is_float(node.inputs[1]) && bias_known &&
         node.attributes<Conv>().auto_pad == AutoPad::kNotSet;
}

// A convolution's weights by output channel, input channel of the group and tap, while they are added to.
struct Sum {
  Node* node;
  std::vector<double> weights, bias;
  std::vector<int64_t> dims;
  explicit Sum(Node& conv) : node(&conv), weights(contents::numbers(*conv.inputs[1])) {
    dims = contents::dims_of(*conv.inputs[1]);
    bias.assign(static_cast<size_t>(dims[0]), 0.0);
    if (conv.inputs.size() > 2 && conv.inputs[2]) bias = contents::numbers(*conv.inputs[2]);
  }
  const Conv& attributes() const { return node->attributes<Conv>(); }
  size_t spatial() const { return dims.size() - 2; }
  int64_t dilation(size_t axis) const { return attributes().dilations.get(axis, 1); }
};

// The tap of `to` on which tap 0 of a window of `kernel` taps falls that begins `pad` before the input; -1 when not all
// of its taps fall on one.
int64_t first_tap(const Sum& to, size_t axis, int64_t kernel, int64_t pad, int64_t dilation) {
  const int64_t step = to.dilation(axis), before = to.attributes().pads.get(axis, 0) - pad;
  if (before < 0 || step < 1 || before % step != 0 || (kernel > 1 && dilation != step)) return -1;
  return before / step + kernel <= to.dims[axis + 2] ? before / step : -1;
}

// Adds the weights of `from` where its taps fall on those of `to`.
bool add_conv(Sum& to, const Sum& from) {
  if (from.dims[0] != to.dims[0] || from.dims[1] != to.dims[1] || from.dims.size() != to.dims.size()) return false;
  if (from.attributes().groups != to.attributes().groups) return false;
  std::vector<int64_t> first(to.spatial());
  for (size_t a = 0; a < first.size(); ++a) {
    if (from.attributes().strides.get(a, 1) != to.attributes().strides.get(a, 1)) return false;
    first[a] = first_tap(to, a, from.dims[a + 2], from.attributes().pads.get(a, 0), from.dilation(a));
    if (first[a] < 0) return false;
  }
  for (size_t i = 0; i < from.weights.size(); ++i) {
    size_t rest = i, place = 0, step = 1;
    for (size_t a = to.spatial(); a-- > 0;) {
      const auto own = static_cast<size_t>(from.dims[a + 2]);
      place += (rest % own + static_cast<size_t>(first[a])) * step;
      step *= static_cast<size_t>(to.dims[a + 2]);
      rest /= own;
    }
    to.weights[place + rest * step] += from.weights[i];
  }
  for (size_t c = 0; c < to.bias.size(); ++c) to.bias[c] += from.bias[c];
  return true;
}

// Adds the scale to the tap that looks at the same pixel of the same channel.
bool add_scaled(Sum& to, const Scaled& from) {
  const int64_t groups = to.attributes().groups, made = to.dims[0], each = to.dims[1];
  if (made != groups * each || static_cast<int64_t>(from.scale.size()) != made) return false;
  int64_t taps = 1, at = 0;
  for (size_t a = 0; a < to.spatial(); ++a) {
    const int64_t tap = first_tap(to, a, 1, 0, 1);
    if (tap < 0 || to.attributes().strides.get(a, 1) != 1) return false;
    at = at * to.dims[a + 2] + tap;
    taps *= to.dims[a + 2];
  }
  for (int64_t c = 0; c < made; ++c) {
    const auto channel = static_cast<size_t>(c);
    to.weights[static_cast<size_t>((c * each + c % each) * taps + at)] += from.scale[channel];
    to.bias[channel] += from.shift[channel];
  }
  return true;
}

Value* finish(const Sum& sum, Builder& build) {
  const DType dtype = sum.node->inputs[1]->type.dtype;
  const int64_t channels[] = {sum.dims[0]};
  Value* weights = contents::constant(build, dtype, sum.dims, sum.weights);
  weights->name = sum.node->inputs[1]->name;
  return build.one(op_conv, sum.attributes(),
                   {sum.node->inputs[0], weights, contents::constant(build, dtype, channels, sum.bias)});
}

Value* join_convs(const Match& m, Builder& build) {
  const Value &a = *m["a"], &b = *m["b"];
  if (!is_plain_conv(a) || !is_plain_conv(b) || !(a.type == b.type) || !(a.type == m.root->outputs[0]->type))
    return nullptr;
  if (a.producer->inputs[0] != b.producer->inputs[0]) return nullptr;
  Sum left(*a.producer), right(*b.producer);
  if (add_conv(left, right)) return finish(left, build);
  return add_conv(right, left) ? finish(right, build) : nullptr;
}

Value* join_scaled(const Match& m, Builder& build) {
  const Value& conv = *m["conv"];
  Scaled scaled;
  if (!is_plain_conv(conv) || !(conv.type == m.root->outputs[0]->type) || !read_scaled(*m["scaled"], scaled))
    return nullptr;
  Sum sum(*conv.producer);
  const bool fits = scaled.x == conv.producer->inputs[0] && scaled.x->type == conv.type && add_scaled(sum, scaled);
  return fits ? finish(sum, build) : nullptr;
}

std::vector<Rule> make() {
  const auto conv = [] { return is(op_conv, {any("x"), constant("w")}).rest().once(); };
  return {{"join-parallel-convs", "conv(x, w) + conv(x, v) → conv(x, w + v)",
           is(op_add, {conv().as("a"), is(op_conv, {any("x"), constant("v")}).rest().once().as("b")}), join_convs},
          {"join-scaled-input", "conv(x, w) + (x·s + t) → conv(x, w + s)",
           is(op_add, {conv().as("conv"), any("scaled").once()}).either(), join_scaled}};
}

}  // namespace

MICA_RULES(parallel) = {.rank = 11, .make = make};

}  // namespace mica
