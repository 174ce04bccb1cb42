// A transposed convolution to few channels is a convolution to the outputs between two inputs as so many channels, and
// then a move of these to where they belong. The outputs of one remainder modulo the stride are few channels by
// themselves, less than a vector; all together they fill some. One of a single pixel is a product.
#include <array>

#include "base/integers.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv_transpose.h"
#include "ops/move/blocks.h"
#include "ops/move/slice.h"
#include "ops/move/transpose.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(conv_transpose);
MICA_DECLARE_OP(depth_to_space);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(slice);
MICA_DECLARE_OP(transpose);

namespace {

constexpr int64_t kMostSide = 1 << 12;  // of kernels, strides and pads: no network's are longer

// Along one axis. Counted from before the cut, outputs a·stride to (a + 1)·stride - 1 see the inputs a - taps + 1 to a.
struct Axis {
  int64_t kernel = 1, stride = 1, taps = 1;
  int64_t pad_begin = 0, pad_end = 0;  // of the convolution over inputs
  int64_t cut_begin = 0, cut_end = 0;  // of what it gives, in outputs
};

Axis axis_of(const ConvTranspose& a, int64_t kernel, size_t i, size_t axes) {
  Axis axis{.kernel = kernel, .stride = a.strides.get(i, 1)};
  axis.taps = ceil_div(kernel, axis.stride);
  const int64_t begin = a.pads.get(i, 0), last = kernel - 1 - a.pads.get(i + axes, 0) + a.output_padding.get(i, 0);
  axis.pad_begin = axis.taps - 1 - begin / axis.stride;
  axis.cut_begin = begin % axis.stride;
  axis.pad_end = last < 0 ? -1 : last / axis.stride;
  axis.cut_end = last < 0 ? 0 : axis.stride - 1 - last % axis.stride;
  return axis;
}

bool is_plain(const ConvTranspose& a) {
  return a.groups == 1 && a.auto_pad == AutoPad::kNotSet && a.output_shape.empty();
}

// The rule is for a line, or two spatial axes of one stride, and pads that leave both convolutions some.
bool fits(const ConvTranspose& a, const Value& w) {
  const int rank = w.type.shape.rank;
  if (!is_plain(a) || (rank != 3 && rank != 4) || !w.type.shape.fixed() || !contents::is_float(&w)) return false;
  const auto axes = static_cast<size_t>(rank - 2);
  const int64_t stride = a.strides.get(0, 1);
  if (stride < 2 || stride > kMostSide || a.strides.get(axes - 1, 1) != stride) return false;
  for (size_t i = 0; i < 2 * axes; ++i)
    if (a.pads.get(i, 0) < 0 || a.pads.get(i, 0) > kMostSide) return false;
  for (size_t i = 0; i < axes; ++i)
    if (a.dilations.get(i, 1) != 1 || a.output_padding.get(i, 0) > kMostSide ||
        w.type.shape[static_cast<int>(i) + 2].value() > kMostSide)
      return false;
  return true;
}

// Multiply-adds for an input pixel and channel, in vectors of a panel: a phase pads its few channels to one, and
// together they pad their taps. The move afterwards wants more than a little to be gained.
bool pays(int64_t channels, const Axis& y, const Axis& x) {
  constexpr int64_t kPanel = 16;
  const int64_t apart = ceil_div(channels, kPanel) * y.kernel * x.kernel;
  const int64_t together = ceil_div(channels * y.stride * x.stride, kPanel) * y.taps * x.taps;
  return together * 2 <= apart;
}

// w[c][n][k][l] goes to [(n · stride + k mod stride) · stride + l mod stride][c] and the tap k / stride, l / stride
// from the end; what no tap goes to is 0.
Value* phases_of(const Value& w, const Axis& y, const Axis& x, Builder& build) {
  auto dims = contents::dims_of(w);
  const bool is_line = dims.size() == 3;
  if (is_line) dims.insert(dims.begin() + 2, 1);
  const std::vector<double> from = contents::numbers(w);
  std::vector<int64_t> wide = {dims[1] * y.stride * x.stride, dims[0], y.taps, x.taps};
  std::vector<double> to(static_cast<size_t>(wide[0] * wide[1] * wide[2] * wide[3]));
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t l = at % dims[3], k = at / dims[3] % dims[2], n = at / (dims[3] * dims[2]) % dims[1];
    const int64_t c = at / (dims[3] * dims[2] * dims[1]);
    const int64_t phase = (n * y.stride + k % y.stride) * x.stride + l % x.stride;
    const int64_t row = y.taps - 1 - k / y.stride, column = x.taps - 1 - l / x.stride;
    to[static_cast<size_t>(((phase * wide[1] + c) * wide[2] + row) * wide[3] + column)] = from[i];
  }
  if (is_line) wide.erase(wide.begin() + 2);
  Value* made = contents::constant(build, w.type.dtype, wide, to);
  made->name = w.name;
  return made;
}

// Each number as often as a channel has phases.
Value* repeated(const Value& bias, int64_t times, Builder& build) {
  const std::vector<double> from = contents::numbers(bias);
  std::vector<double> to;
  for (double number : from) to.insert(to.end(), static_cast<size_t>(times), number);
  Value* made = contents::constant(build, bias.type.dtype, std::array{static_cast<int64_t>(to.size())}, to);
  made->name = bias.name;
  return made;
}

Value* without_cut(Value* image, std::span<const Axis> given, Builder& build) {
  std::vector<int64_t> begin, end, axes;
  int64_t number = 2;
  for (const Axis& axis : given) {
    if (axis.cut_begin != 0 || axis.cut_end != 0) {
      begin.push_back(axis.cut_begin);
      end.push_back(axis.cut_end == 0 ? std::numeric_limits<int64_t>::max() : -axis.cut_end);
      axes.push_back(number);
    }
    ++number;
  }
  if (axes.empty()) return image;
  return build.one(op_slice, {image, build.ints(begin), build.ints(end), build.ints(axes)});
}

// [n, channels · stride, length] as a line of each channel: the stride's outputs one behind the other.
Value* woven(Value* deep, int64_t channels, int64_t stride, Builder& build) {
  const int64_t length = deep->type.shape[2].value();
  Transpose last_two;
  for (const int64_t axis : {0, 1, 3, 2}) last_two.perm.push(axis);
  Value* parted = build.one(op_reshape, {deep, build.ints(std::array<int64_t, 4>{0, channels, stride, length})});
  Value* turned = build.one(op_transpose, last_two, {parted});
  return build.one(op_reshape, {turned, build.ints(std::array<int64_t, 3>{0, channels, length * stride})});
}

Value* conv_of_phases(const Match& m, Builder& build) {
  const ConvTranspose& a = m.root->attributes<ConvTranspose>();
  const Value& w = *m["w"];
  if (!fits(a, w)) return nullptr;
  const Values& given = m.root->inputs;
  const Value* bias = given.size() > 2 ? given[2] : nullptr;
  if (bias && !bias->is_constant()) return nullptr;
  const Shape &kernel = w.type.shape, &image = m["x"]->type.shape;
  const bool is_line = kernel.rank == 3;
  if (is_line && !(image.known() && image.rank == 3 && image[2].is_fixed())) return nullptr;
  const Axis y = is_line ? Axis() : axis_of(a, kernel[2].value(), 0, 2);
  const Axis x = is_line ? axis_of(a, kernel[2].value(), 0, 1) : axis_of(a, kernel[3].value(), 1, 2);
  const int64_t channels = kernel[1].value();
  const bool inside = y.pad_begin >= 0 && y.pad_end >= 0 && x.pad_begin >= 0 && x.pad_end >= 0;
  if (!inside || !pays(channels, y, x)) return nullptr;
  Conv conv;
  if (!is_line) conv.pads.push(y.pad_begin);
  conv.pads.push(x.pad_begin);
  if (!is_line) conv.pads.push(y.pad_end);
  conv.pads.push(x.pad_end);
  Values inputs = {given[0], phases_of(w, y, x, build)};
  if (bias) inputs.push_back(repeated(*bias, y.stride * x.stride, build));
  Value* deep = build.one(op_conv, conv, inputs);
  if (is_line) return without_cut(woven(deep, channels, x.stride, build), std::array{x}, build);
  const BlockMove move{.block = y.stride, .order = BlockOrder::kCrd};
  return without_cut(build.one(op_depth_to_space, move, {deep}), std::array{y, x}, build);
}

// Whether the input is one pixel and the output the kernel, neither cut nor padded.
bool is_one_pixel(const ConvTranspose& a, const Shape& image, const Shape& kernel) {
  if (!is_plain(a) || !image.known() || image.rank != kernel.rank || image.rank < 3 || !kernel.fixed()) return false;
  const auto axes = static_cast<size_t>(image.rank - 2);
  for (size_t i = 0; i < axes; ++i)
    if (!image[static_cast<int>(i) + 2].is(1) || a.dilations.get(i, 1) != 1 || a.output_padding.get(i, 0) != 0 ||
        a.pads.get(i, 0) != 0 || a.pads.get(i + axes, 0) != 0)
      return false;
  return true;
}

// As generators begin: each output of the kernel's places is a channel of a product, the places behind each other.
Value* product_of_pixel(const Match& m, Builder& build) {
  const Value& w = *m["w"];
  const Shape& kernel = w.type.shape;
  const Values& given = m.root->inputs;
  const Value* bias = given.size() > 2 ? given[2] : nullptr;
  if (!contents::is_float(&w) || (bias && !bias->is_constant()) || w.constant->view.empty() ||
      !is_one_pixel(m.root->attributes<ConvTranspose>(), m["x"]->type.shape, kernel))
    return nullptr;
  const int64_t channels = kernel[0].value(), made = kernel[1].value();
  const std::vector<double> from = contents::numbers(w);
  const auto places = static_cast<int64_t>(from.size()) / (channels * made);
  std::vector<double> to(from.size());
  for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i) {
    const int64_t place = i % places, n = i / places % made, c = i / (places * made);
    to[static_cast<size_t>((place * made + n) * channels + c)] = from[static_cast<size_t>(i)];
  }
  std::vector<int64_t> dims(static_cast<size_t>(kernel.rank), 1), shape = {0};
  dims[0] = places * made;
  dims[1] = channels;
  Values inputs = {given[0], contents::constant(build, w.type.dtype, dims, to)};
  if (bias) {
    const std::vector<double> one = contents::numbers(*bias);
    std::vector<double> all;
    for (int64_t place = 0; place < places; ++place) all.insert(all.end(), one.begin(), one.end());
    inputs.push_back(contents::constant(build, bias->type.dtype, std::array{places * made}, all));
  }
  Transpose channels_first{.perm = {0, kernel.rank - 1}};
  for (int i = 2; i < kernel.rank; ++i) {
    shape.push_back(kernel[i].value());
    channels_first.perm.push(i - 1);
  }
  shape.push_back(made);
  Value* parted = build.one(op_reshape, {build.one(op_conv, Conv(), inputs), build.ints(shape)});
  return build.one(op_transpose, channels_first, {parted});
}

std::vector<Rule> make() {
  return {
      {"transposed-conv-of-one-pixel", "conv_transpose(x) of 1 x 1 → transpose(reshape(conv(x)))",
       is(op_conv_transpose, {any("x"), constant("w")}).rest(), product_of_pixel},
      {"transposed-conv-to-few-channels", "conv_transpose(x) → slice(depth_to_space(conv(x))), of a line with reshapes",
       is(op_conv_transpose, {any("x"), constant("w")}).rest(), conv_of_phases}};
}

}  // namespace

MICA_RULES(transposed) = {.rank = 15, .make = make};

}  // namespace mica
