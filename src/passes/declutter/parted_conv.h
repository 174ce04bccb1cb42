// A convolution over images that are put side by side, as a sum of convolutions over some of them.
#pragma once
#include <functional>

#include "ir/match.h"
#include "ops/conv/conv.h"
#include "ops/move/concat.h"
#include "passes/declutter/contents.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(conv);

// Some of a convolution's input channels: an operand of a concatenation, or all.
struct ConvPart {
  Value* x;
  int64_t first, count;
  size_t readers;  // of the concatenation: convolutions that share what the part costs
};

// For convolutions of one group with constant weights.
class PartedConv {
 public:
  PartedConv(const Match& m, Builder& build)
      : conv_(*m.root), readers_(*m.readers), build_(build), plain_(contents::numbers(*conv_.inputs[1])) {}

  // Takes out the parts that are chosen; nothing, and false, where there are none, or somebody else than such
  // convolutions reads all of them. Only parts are offered that nobody else reads.
  bool take(bool (*is_such)(const Node&), const std::function<bool(const ConvPart&)>& chosen) {
    Value* x = conv_.inputs[0];
    const auto add = [&](const ConvPart& part) {
      const bool own = readers_.count(part.x) == 1 && !readers_.kept(part.x);
      (own && chosen(part) ? taken_ : rest_).push_back(part);
    };
    if (x->producer && x->producer->op == &op_concat) {
      const auto nodes = readers_.nodes(x);
      if (!is_beside(*x->producer) || readers_.kept(x) || nodes.size() != readers_.count(x) ||
          !std::ranges::all_of(nodes, [&](const Node* node) { return is_such(*node); }))
        return false;
      int64_t first = 0;
      for (Value* part : x->producer->inputs) {
        const int64_t count = part->type.shape[1].value();
        add({part, first, count, nodes.size()});
        first += count;
      }
    } else {
      add({x, 0, conv_.inputs[1]->type.shape[1].value(), 1});
    }
    return !taken_.empty();
  }

  // The sum of what `made` makes of the parts that were taken, and the convolution over the rest. One of them has the
  // bias: `bias` is null for the others. Null when `made` gives null, or a value of another type.
  Value* sum(const std::function<Value*(const ConvPart&, Value* weights, Value* bias)>& made) {
    Value* bias = conv_.inputs.size() > 2 ? conv_.inputs[2] : nullptr;
    Value* all = nullptr;
    for (const ConvPart& part : taken_) {
      Value* one = made(part, weights_of(std::span(&part, 1)), rest_.empty() && !all ? bias : nullptr);
      if (!one || !(one->type == conv_.outputs[0]->type)) return nullptr;
      all = all ? build_.one(op_add, {all, one}) : one;
    }
    return rest_.empty() ? all : build_.one(op_add, {over_rest(bias), all});
  }

 private:
  static bool is_beside(const Node& concat) {
    const int64_t axis = concat.attributes<Concat>().axis;
    const auto known = [](const Value* v) { return v->type.shape.known() && v->type.shape[1].is_fixed(); };
    return (axis == 1 || axis == 1 - concat.outputs[0]->type.shape.rank) && std::ranges::all_of(concat.inputs, known);
  }
  // The weights for the parts' channels.
  Value* weights_of(std::span<const ConvPart> parts) {
    std::vector<int64_t> dims = contents::dims_of(*conv_.inputs[1]);
    const int64_t rows = dims[0], row = static_cast<int64_t>(plain_.size()) / rows, taps = row / dims[1];
    std::vector<double> list;
    dims[1] = 0;
    for (const ConvPart& part : parts) dims[1] += part.count;
    for (int64_t n = 0; n < rows; ++n)
      for (const ConvPart& part : parts) {
        const auto from = plain_.begin() + n * row + part.first * taps;
        list.insert(list.end(), from, from + part.count * taps);
      }
    Value* w = contents::constant(build_, conv_.inputs[1]->type.dtype, dims, list);
    w->name = conv_.inputs[1]->name;
    return w;
  }
  Value* over_rest(Value* bias) {
    Values parts;
    for (const ConvPart& part : rest_) parts.push_back(part.x);
    Value* x = parts.size() == 1 ? parts[0] : build_.one(op_concat, Concat{.axis = 1}, parts);
    return build_.again(conv_, {x, weights_of(rest_), bias});
  }

  const Node& conv_;
  const Readers& readers_;
  Builder& build_;
  const std::vector<double> plain_;  // weights
  std::vector<ConvPart> taken_, rest_;
};

}  // namespace mica
