// A transposed convolution to few channels is a convolution to the outputs between two inputs as so many channels, and
// then a move of these to where they belong. The outputs of one remainder modulo the stride are few channels by
// themselves, less than a vector; all together they fill some.
#include "base/integers.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv_transpose.h"
#include "ops/move/blocks.h"
#include "ops/move/slice.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(conv_transpose);
MICA_DECLARE_OP(depth_to_space);
MICA_DECLARE_OP(slice);

namespace {

constexpr int64_t kMostSide = 1 << 12;  // of kernels, strides and pads: no network's are longer

// Along one axis. Counted from before the cut, outputs a·stride to (a + 1)·stride - 1 see the inputs a - taps + 1 to a.
struct Axis {
  int64_t kernel, stride, taps;
  int64_t pad_begin, pad_end;  // of the convolution over inputs
  int64_t cut_begin, cut_end;  // of what it gives, in outputs
};

Axis axis_of(const ConvTranspose& a, int64_t kernel, size_t i) {
  Axis axis{.kernel = kernel, .stride = a.strides.get(i, 1)};
  axis.taps = ceil_div(kernel, axis.stride);
  const int64_t begin = a.pads.get(i, 0), last = kernel - 1 - a.pads.get(i + 2, 0) + a.output_padding.get(i, 0);
  axis.pad_begin = axis.taps - 1 - begin / axis.stride;
  axis.cut_begin = begin % axis.stride;
  axis.pad_end = last < 0 ? -1 : last / axis.stride;
  axis.cut_end = last < 0 ? 0 : axis.stride - 1 - last % axis.stride;
  return axis;
}

// The rule is for two spatial axes of one stride, and pads that leave both convolutions some.
bool fits(const ConvTranspose& a, const Value& w) {
  if (a.groups != 1 || a.auto_pad != AutoPad::kNotSet || !a.output_shape.empty() || w.type.shape.rank != 4 ||
      !w.type.shape.fixed() || !contents::is_float(&w))
    return false;
  const int64_t stride = a.strides.get(0, 1);
  if (stride < 2 || stride > kMostSide || a.strides.get(1, 1) != stride) return false;
  for (size_t i = 0; i < 4; ++i)
    if (a.pads.get(i, 0) < 0 || a.pads.get(i, 0) > kMostSide) return false;
  for (size_t i = 0; i < 2; ++i)
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
  const auto dims = contents::dims_of(w);
  const std::vector<double> from = contents::numbers(w);
  const std::vector<int64_t> wide = {dims[1] * y.stride * x.stride, dims[0], y.taps, x.taps};
  std::vector<double> to(static_cast<size_t>(wide[0] * wide[1] * wide[2] * wide[3]));
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t l = at % dims[3], k = at / dims[3] % dims[2], n = at / (dims[3] * dims[2]) % dims[1];
    const int64_t c = at / (dims[3] * dims[2] * dims[1]);
    const int64_t phase = (n * y.stride + k % y.stride) * x.stride + l % x.stride;
    const int64_t row = y.taps - 1 - k / y.stride, column = x.taps - 1 - l / x.stride;
    to[static_cast<size_t>(((phase * wide[1] + c) * wide[2] + row) * wide[3] + column)] = from[i];
  }
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

Value* without_cut(Value* image, const Axis& y, const Axis& x, Builder& build) {
  std::vector<int64_t> begin, end, axes;
  int64_t number = 2;
  for (const Axis* axis : {&y, &x}) {
    if (axis->cut_begin != 0 || axis->cut_end != 0) {
      begin.push_back(axis->cut_begin);
      end.push_back(axis->cut_end == 0 ? std::numeric_limits<int64_t>::max() : -axis->cut_end);
      axes.push_back(number);
    }
    ++number;
  }
  if (axes.empty()) return image;
  return build.one(op_slice, {image, build.ints(begin), build.ints(end), build.ints(axes)});
}

Value* conv_of_phases(const Match& m, Builder& build) {
  const ConvTranspose& a = m.root->attributes<ConvTranspose>();
  const Value& w = *m["w"];
  if (!fits(a, w)) return nullptr;
  const Values& given = m.root->inputs;
  const Value* bias = given.size() > 2 ? given[2] : nullptr;
  if (bias && !bias->is_constant()) return nullptr;
  const Axis y = axis_of(a, w.type.shape[2].value(), 0), x = axis_of(a, w.type.shape[3].value(), 1);
  const bool inside = y.pad_begin >= 0 && y.pad_end >= 0 && x.pad_begin >= 0 && x.pad_end >= 0;
  if (!inside || !pays(w.type.shape[1].value(), y, x)) return nullptr;
  Conv conv;
  for (int64_t pad : {y.pad_begin, x.pad_begin, y.pad_end, x.pad_end}) conv.pads.push(pad);
  Values inputs = {given[0], phases_of(w, y, x, build)};
  if (bias) inputs.push_back(repeated(*bias, y.stride * x.stride, build));
  Value* deep = build.one(op_conv, conv, inputs);
  return without_cut(build.one(op_depth_to_space, BlockMove{.block = y.stride, .order = BlockOrder::kCrd}, {deep}), y,
                     x, build);
}

std::vector<Rule> make() {
  return {{"transposed-conv-to-few-channels", "conv_transpose(x) → slice(depth_to_space(conv(x)))",
           is(op_conv_transpose, {any("x"), constant("w")}).rest(), conv_of_phases}};
}

}  // namespace

MICA_RULES(transposed) = {.rank = 15, .make = make};

}  // namespace mica
