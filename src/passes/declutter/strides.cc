// Convolutions of one tap that skip pixels (the first ones of a ResNet's stage) need no other pixels of what they read:
// their strides go to the convolutions in front of them, through sums and activations, which then make fewer.
#include <algorithm>

#include "ir/builder.h"
#include "ir/match.h"
#include "ops/conv/conv.h"
#include "passes/declutter/simplify.h"

namespace mica {
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(slice);

namespace {

using Strides = std::vector<int64_t>;

constexpr int64_t kMostStride = 1 << 15;  // products of two are strides, too
bool are_modest(const Ints& strides) {
  return std::ranges::all_of(strides.span(), [](int64_t s) { return s <= kMostStride; });
}

bool fixed_image(const Value& v) {
  const Shape& shape = v.type.shape;
  return v.type.is_tensor() && shape.known() && shape.rank >= 3 &&
         std::ranges::all_of(shape.span().subspan(2), [](Dim d) { return d.is_fixed(); });
}

// Of a convolution of one tap without pads that skips pixels; else empty.
Strides skips(const Node& node, const Value& read) {
  if (node.op != &op_conv || node.inputs[0] != &read || node.inputs[1] == &read) return {};
  const auto& a = node.attributes<Conv>();
  const Shape& w = node.inputs[1]->type.shape;
  const auto is_one = [](Dim d) { return d.is(1); };
  if (!w.known() || !std::ranges::all_of(w.span().subspan(2), is_one) || !are_modest(a.strides)) return {};
  if (std::ranges::any_of(a.pads.span(), [](int64_t p) { return p != 0; })) return {};
  Strides strides;
  for (int i = 2; i < w.rank; ++i) strides.push_back(a.strides.get(static_cast<size_t>(i - 2), 1));
  return std::ranges::all_of(strides, [](int64_t s) { return s == 1; }) ? Strides{} : strides;
}

class Puller {
 public:
  Puller(Graph& graph, const Readers& readers) : readers_(readers), build_(graph) {}

  // What all readers of the value skip; empty where they differ, or one needs every pixel.
  Strides skipped(const Value& v) const {
    const auto nodes = readers_.nodes(&v);
    if (nodes.empty() || nodes.size() != readers_.count(&v) || readers_.kept(&v) || !fixed_image(v)) return {};
    const Strides first = skips(*nodes[0], v);
    const bool all = std::ranges::all_of(nodes, [&](const Node* n) { return skips(*n, v) == first; });
    return all ? first : Strides{};
  }

  // Whether a convolution makes the value, through element-wise operators whose other results nobody reads.
  bool comes_from_conv(const Value& v, int depth = 0) const {
    const Node* maker = v.producer;
    if (!maker || depth > kDeepest || maker->outputs.size() != 1 || (depth > 0 && !is_read_once(v))) return false;
    if (maker->op == &op_conv) {
      const auto& a = maker->attributes<Conv>();
      return a.auto_pad == AutoPad::kNotSet && are_modest(a.strides) && fixed_image(v);
    }
    if (maker->op->pointwise == Pointwise::kNone || !aligned(*maker)) return false;
    return std::ranges::any_of(maker->inputs, [&](const Value* u) { return u && comes_from_conv(*u, depth + 1); });
  }

  // The value's pixels that are not skipped, made behind node `index`.
  Value* pull(Value& v, const Strides& strides, size_t index) {
    build_.insert_at(index + 1);
    return narrowed(v, strides, 0);
  }

 private:
  static constexpr int kDeepest = 8;

  bool is_read_once(const Value& v) const { return readers_.count(&v) == 1 && !readers_.kept(&v); }

  // Every operand has the result's pixels, or one number for all of them.
  static bool aligned(const Node& node) {
    const Value& out = *node.outputs[0];
    return fixed_image(out) && std::ranges::all_of(node.inputs, [&](const Value* u) {
             return !u || has_no_pixels(*u, out) ||
                    (fixed_image(*u) && std::ranges::equal(spatial(*u), spatial(out)) &&
                     u->type.shape.rank == out.type.shape.rank);
           });
  }
  static std::span<const Dim> spatial(const Value& v) { return v.type.shape.span().subspan(2); }
  static bool has_no_pixels(const Value& u, const Value& out) {
    if (!u.type.shape.known()) return false;
    const auto dims = u.type.shape.span();
    return std::ranges::all_of(dims.last(std::min(dims.size(), spatial(out).size())), [](Dim d) { return d.is(1); });
  }

  Value* narrowed(Value& v, const Strides& strides, int depth) {
    if (!comes_from_conv(v, depth)) return sliced(v, strides);
    const Node& maker = *v.producer;
    build_.set_name(maker.name);
    if (maker.op == &op_conv) {
      Conv a = maker.attributes<Conv>();
      Ints all;
      for (size_t i = 0; i < strides.size(); ++i) all.push(a.strides.get(i, 1) * strides[i]);
      a.strides = all;
      return build_.one(op_conv, a, maker.inputs);
    }
    Values inputs = maker.inputs;
    for (Value*& u : inputs)
      if (u && !has_no_pixels(*u, v)) u = narrowed(*u, strides, depth + 1);
    build_.set_name(maker.name);
    return build_.again(maker, inputs);
  }

  Value* sliced(Value& v, const Strides& strides) {
    std::vector<int64_t> begin(strides.size(), 0), end(strides.size(), INT64_MAX), axes;
    for (size_t i = 0; i < strides.size(); ++i) axes.push_back(static_cast<int64_t>(i) + 2);
    build_.set_name(v.name);
    return build_.one(op_slice, {&v, build_.ints(begin), build_.ints(end), build_.ints(axes), build_.ints(strides)});
  }

  const Readers& readers_;
  Builder build_;
};

}  // namespace

int64_t pull_strides(Graph& graph, const DeclutterOptions&) {
  int64_t pulled = 0;
  Readers readers(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i]->outputs.size() != 1) continue;
    Value& v = *graph.nodes[i]->outputs[0];
    Puller puller(graph, readers);
    const Strides strides = puller.skipped(v);
    if (strides.empty() || !puller.comes_from_conv(v)) continue;
    Value* fewer = puller.pull(v, strides, i);
    for (Node* reader : readers.nodes(&v)) {
      reader->inputs[0] = fewer;
      reader->attributes<Conv>().strides = Ints();
    }
    ++pulled;
    readers = Readers(graph);
  }
  if (pulled) infer_again(graph);
  return pulled;
}

}  // namespace mica
