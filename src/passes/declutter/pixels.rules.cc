// What stands between a picture's bytes and its first convolution goes into that: the cast to floats, additions and
// multiplications by a number or by one for each channel, transpositions, and the order of the channels.
#include <limits>

#include "ops/conv/pixel_conv.h"
#include "ops/index/axis.h"
#include "ops/move/slice.h"
#include "ops/pointwise/cast.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(gather);
MICA_DECLARE_OP(pixel_conv);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(slice);
MICA_DECLARE_OP(transpose);

namespace {

// Fewer filters leave most of a vector idle, and other algorithms have uses for it.
constexpr int64_t kLeastFilters = 8;

// Goes up from a convolution's input to bytes: input[channel] = bytes[channels[channel]] · scale + shift.
class PixelSource {
 public:
  PixelSource(Value* input, int64_t channels)
      : at_(input),
        count_(channels),
        scale_(static_cast<size_t>(channels), 1.0),
        shift_(static_cast<size_t>(channels), 0.0) {
    for (int64_t i = 0; i < channels; ++i) channels_.push_back(i);
    for (int64_t i = 0; i < input->type.shape.rank; ++i) axes_.push_back(i);
  }
  bool find() {
    while (!is_byte(at_->type.dtype)) {
      if (!at_->producer || at_->producer->outputs.size() != 1) return false;
      passed_.push_back(at_);
      if (!pass(*at_->producer)) return false;
    }
    const Shape& shape = at_->type.shape;
    return shape.rank == static_cast<int>(axes_.size()) && shape[channel_axis()].is(count_) && is_finite();
  }
  // Passes one more operator, which moves bytes.
  bool find_further(const Readers& readers) {
    if (!at_->producer || !is_move(*at_->producer)) return false;
    PixelSource next = *this;
    next.passed_ = {at_};
    if (!next.pass(*at_->producer) || !next.is_sole_reader(readers)) return false;
    *this = std::move(next);
    return true;
  }
  // Whether nobody else wants what stands between.
  bool is_sole_reader(const Readers& readers) const {
    return std::ranges::all_of(passed_, [&](const Value* v) { return readers.count(v) == 1 && !readers.kept(v); });
  }
  // The bytes with their axes as the convolution has them.
  Value* image(Builder& build) const {
    if (std::ranges::is_sorted(axes_)) return at_;
    Transpose transpose;
    for (int64_t axis : axes_) transpose.perm.push(axis);
    return build.one(op_transpose, transpose, {at_});
  }
  // By the channel of the bytes.
  Floats in_order(const std::vector<double>& list) const {
    std::vector<float> placed(list.size());
    for (size_t i = 0; i < list.size(); ++i) placed[static_cast<size_t>(channels_[i])] = static_cast<float>(list[i]);
    Floats floats;
    floats.assign(placed);
    return floats;
  }
  Floats scale() const { return in_order(scale_); }
  Floats shift() const { return in_order(shift_); }
  const std::vector<int64_t>& channels() const { return channels_; }

 private:
  static bool is_move(const Node& node) {
    return node.op == &op_transpose || node.op == &op_reshape || node.op == &op_gather || node.op == &op_slice;
  }
  int channel_axis() const { return static_cast<int>(axes_[1]); }

  bool is_finite() const {
    constexpr double kMost = std::numeric_limits<float>::max();
    const auto fits = [&](double x) { return std::fabs(x) <= kMost; };
    return std::ranges::all_of(scale_, fits) && std::ranges::all_of(shift_, fits);
  }

  bool pass(const Node& node) {
    if (node.op == &op_cast) return pass_to(node, node.inputs[0]);
    if (node.op == &op_transpose) {
      const auto order = contents::order_of(node);
      for (int64_t& axis : axes_) axis = order[static_cast<size_t>(axis)];
      return pass_to(node, node.inputs[0]);
    }
    if (node.op == &op_reshape) return pass_reshape(node);
    if (node.op == &op_gather) return pass_gather(node);
    if (node.op == &op_slice) return pass_slice(node);
    return pass_arithmetic(node);
  }
  // Bytes are cast; what else is passed keeps its type.
  bool pass_to(const Node& node, Value* next) {
    if (!next || next->type.shape.rank != static_cast<int>(axes_.size())) return false;
    const bool fits = node.op == &op_cast ? is_byte(next->type.dtype) : next->type.dtype == at_->type.dtype;
    at_ = next;
    return fits;
  }

  bool pass_arithmetic(const Node& node) {
    const Pointwise f = node.op->pointwise;
    float a = 0, b = 0;
    if (node.op->parameters) node.op->parameters(node.attributes_blob.data(), a, b);
    if (node.inputs.size() == 1) {
      if (f == Pointwise::kNeg) return compose(-1, 0) && pass_to(node, node.inputs[0]);
      return f == Pointwise::kAffine && compose(a, b) && pass_to(node, node.inputs[0]);
    }
    if (node.inputs.size() != 2 || !node.inputs[0] || !node.inputs[1]) return false;
    const bool swapped = node.inputs[0]->is_constant();
    const Value& second = *node.inputs[swapped ? 0 : 1];
    Value* next = node.inputs[swapped ? 1 : 0];
    if (!second.is_constant() || !contents::is_float(&second) || !(next->type == at_->type)) return false;
    const auto list = contents::along_axis(second, static_cast<int>(axes_.size()), channel_axis(), count_);
    return list.size() == scale_.size() && compose(f, swapped, list) && pass_to(node, next);
  }
  // result = operand · scale + shift
  bool compose(double scale, double shift) {
    for (size_t i = 0; i < scale_.size(); ++i) {
      shift_[i] += scale_[i] * shift;
      scale_[i] *= scale;
    }
    return true;
  }
  bool compose(Pointwise f, bool swapped, const std::vector<double>& list) {
    if (f == Pointwise::kDiv && swapped) return false;
    for (size_t i = 0; i < list.size(); ++i) {
      const double c = list[static_cast<size_t>(channels_[i])];
      switch (f) {
        case Pointwise::kAdd: shift_[i] += scale_[i] * c; break;
        case Pointwise::kSub:
          shift_[i] += scale_[i] * (swapped ? c : -c);
          scale_[i] *= swapped ? -1 : 1;
          break;
        case Pointwise::kMul: scale_[i] *= c; break;
        case Pointwise::kDiv: scale_[i] /= c; break;
        default: return false;
      }
    }
    return true;
  }

  // Of one channel: its axis goes to another place, which is no transposition then.
  bool pass_reshape(const Node& node) {
    const Shape &to = at_->type.shape, &from = node.inputs[0]->type.shape;
    if (count_ != 1 || from.rank != to.rank) return false;
    for (int channel = 0; channel < from.rank; ++channel) {
      std::vector<int64_t> moved(axes_.size());  // the operand's axis by the result's
      bool same = from[channel].is(1);
      for (int i = 0, k = 0; i < to.rank; ++i) {
        if (i != channel_axis() && k == channel) ++k;
        const int axis = i == channel_axis() ? channel : k++;
        same = same && to[i] == from[axis];
        moved[static_cast<size_t>(i)] = axis;
      }
      if (!same) continue;
      for (int64_t& axis : axes_) axis = moved[static_cast<size_t>(axis)];
      return pass_to(node, node.inputs[0]);
    }
    return false;
  }
  bool pass_gather(const Node& node) {
    const int64_t axis = node.attributes<IndexAxis>().axis, rank = static_cast<int64_t>(axes_.size());
    const auto indices = contents::integers(node.inputs[1]);
    if ((axis < 0 ? axis + rank : axis) != axes_[1] || !indices || node.inputs[1]->type.shape.rank != 1) return false;
    return reorder(node, *indices) && pass_to(node, node.inputs[0]);
  }
  bool pass_slice(const Node& node) {
    const Shape& shape = node.inputs[0]->type.shape;
    if (!shape.fixed() || shape.rank != static_cast<int>(axes_.size())) return false;
    const auto cut = contents::cut_of(node, contents::dims_of(*node.inputs[0]));
    if (!cut) return false;
    for (int i = 0; i < shape.rank; ++i)
      if (i != channel_axis() && (cut->begin[i] != 0 || cut->step[i] != 1 || !shape[i].is(cut->length[i])))
        return false;
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < cut->length[channel_axis()]; ++i)
      indices.push_back(cut->begin[channel_axis()] + i * cut->step[channel_axis()]);
    return reorder(node, indices) && pass_to(node, node.inputs[0]);
  }
  // All channels, in another order.
  bool reorder(const Node& node, std::vector<int64_t> indices) {
    const Shape& from = node.inputs[0]->type.shape;
    if (from.rank <= channel_axis() || !from[channel_axis()].is(count_)) return false;
    for (int64_t& i : indices) i += i < 0 ? count_ : 0;
    std::vector<int64_t> sorted = indices;
    std::ranges::sort(sorted);
    for (size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != static_cast<int64_t>(i)) return false;
    if (static_cast<int64_t>(indices.size()) != count_) return false;
    for (int64_t& channel : channels_) channel = indices[static_cast<size_t>(channel)];
    return true;
  }

  Value* at_;
  int64_t count_;
  std::vector<double> scale_, shift_;     // by the convolution's channel
  std::vector<int64_t> channels_, axes_;  // of at_, by the convolution's channel and axis
  std::vector<const Value*> passed_;
};

// Weights for an input whose channel channels[c] was channel c.
Value* reordered(Value* w, const std::vector<int64_t>& channels, Builder& build) {
  if (std::ranges::is_sorted(channels)) return w;
  const std::vector<double> from = contents::numbers(*w);
  std::vector<double> to(from.size());
  const auto dims = contents::dims_of(*w);
  const size_t count = channels.size(), taps = from.size() / static_cast<size_t>(dims[0]) / count;
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t filter = i / (taps * count), c = i / taps % count;
    to[(filter * count + static_cast<size_t>(channels[c])) * taps + i % taps] = from[i];
  }
  Value* made = contents::constant(build, w->type.dtype, dims, to);
  made->name = w->name;
  return made;
}

// Whether the kernel that reads bytes takes the convolution, whatever the picture's size.
bool suits(const Node& conv) {
  const Value *x = conv.inputs[0], *w = conv.inputs[1];
  if (x->type.dtype != DType::kF32 || w->type.dtype != DType::kF32 || conv.attributes<Conv>().groups != 1) return false;
  const Shape& shape = w->type.shape;
  if (x->type.shape.rank != shape.rank || shape.rank < 3 || shape.rank > 4) return false;
  int64_t steps = shape[1].value();
  if (steps < 1 || steps > kMostPlanes || shape[0].value() < kLeastFilters) return false;
  for (int i = 2; i < shape.rank; ++i) {
    if (shape[i].value() < 1 || shape[i].value() > kMostPlaneSteps) return false;
    steps *= shape[i].value();
  }
  return steps <= kMostPlaneSteps;
}

Value* conv_of_pixels(const Match& m, Builder& build) {
  const Node& conv = *m.root;
  if (!suits(conv)) return nullptr;
  PixelSource source(conv.inputs[0], conv.inputs[1]->type.shape[1].value());
  if (!source.find()) return nullptr;
  if (!source.is_sole_reader(*m.readers)) return nullptr;
  while (source.find_further(*m.readers)) {
  }
  Values inputs = conv.inputs;
  inputs[0] = source.image(build);
  inputs[1] = reordered(inputs[1], source.channels(), build);
  return build.one(op_pixel_conv, PixelConv{conv.attributes<Conv>(), source.scale(), source.shift()}, inputs);
}

std::vector<Rule> make() {
  return {{"pixels-into-conv", "conv(cast, scale, shift, transpose, reverse of bytes) → pixel_conv(bytes)",
           is(op_conv, {any("x"), constant("w")}).rest(), conv_of_pixels, &op_pixel_conv}};
}

}  // namespace

// Last: other tables have to have seen the convolution and what is around it.
MICA_RULES(pixels) = {.rank = 20, .make = make, .last = true};

}  // namespace mica
