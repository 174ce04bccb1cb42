// Taps of a convolution that no output finds inside the input: those of a kernel spread out wider than a small picture,
// of which the padding around it takes the outer ones (dilation 24 of a picture of 14 x 14 leaves the middle one). The
// kernel without them is smaller in the file, in memory and in work.
#include "ops/conv/conv.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(conv);

namespace {

constexpr int64_t kMostPixels = int64_t{1} << 31;  // of an axis: what a file may claim is not multiplied

// Taps [first, last) of one axis, and the padding around the input that keeps their outputs where they are.
struct Taps {
  int64_t first, last, pad_begin, pad_end;
};

// All taps where fewer would need an input cut off at its beginning or its end.
Taps taps_inside(const Window& w, size_t axis) {
  const int64_t in = w.in[axis], kernel = w.kernel[axis], stride = w.stride[axis], dilation = w.dilation[axis];
  const int64_t pad = w.pad_begin[axis], span = (w.out[axis] - 1) * stride;
  Taps t{0, kernel, pad, w.pad_end[axis]};
  while (t.first < kernel && t.pad_begin >= dilation && t.first * dilation - pad + span < 0) {
    ++t.first;
    t.pad_begin -= dilation;
  }
  while (t.last > t.first + 1 && (t.last - 1) * dilation - pad >= in) --t.last;
  const int64_t extent = (t.last - t.first - 1) * dilation + 1;
  const int64_t beyond = span + extent - t.pad_begin - in;  // below zero: so much of the input is not read
  if (t.first == kernel || beyond <= -stride) return {0, kernel, pad, w.pad_end[axis]};
  t.pad_end = std::max<int64_t>(beyond, 0);
  return t;
}

// Appends the box of a tensor of these dimensions to `to`; `from` goes on to what lies behind the tensor.
void copy_box(std::span<const Taps> box, std::span<const int64_t> dims, const double*& from, std::vector<double>& to) {
  if (dims.empty()) return to.push_back(*from++);
  int64_t below = 1;
  for (int64_t d : dims.subspan(1)) below *= d;
  from += box[0].first * below;
  for (int64_t i = box[0].first; i < box[0].last; ++i) copy_box(box.subspan(1), dims.subspan(1), from, to);
  from += (dims[0] - box[0].last) * below;
}

Value* crop_taps(const Match& m, Builder& build) {
  const Shape& in = m["x"]->type.shape;
  Value* w = m["w"];
  if (!contents::is_float(w) || w->constant->view.empty()) return nullptr;
  std::vector<int64_t> pixels, dims = contents::dims_of(*w);
  for (int i = 2; i < in.rank; ++i) {
    if (!in[i].is_fixed() || in[i].is(0) || in[i].value() > kMostPixels) return nullptr;
    pixels.push_back(in[i].value());
  }
  Conv conv = m.root->attributes<Conv>();
  const auto window = fixed_window(conv.window(), pixels, std::span(dims).subspan(2));
  if (!window.ok()) return nullptr;
  std::vector<Taps> box{{0, dims[0], 0, 0}, {0, dims[1], 0, 0}};
  Ints pads;
  bool crops = false;
  for (size_t axis = 0; axis < pixels.size(); ++axis) {
    const Taps taps = taps_inside(*window, axis);
    crops |= taps.last - taps.first < dims[axis + 2];
    box.push_back(taps);
    pads.push(taps.pad_begin);
  }
  if (!crops) return nullptr;
  for (size_t axis = 0; axis < pixels.size(); ++axis) pads.push(box[axis + 2].pad_end);
  const std::vector<double> all = contents::numbers(*w);
  std::vector<double> kept;
  const double* from = all.data();
  copy_box(box, dims, from, kept);
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = box[i].last - box[i].first;
  conv.pads = pads;
  conv.auto_pad = AutoPad::kNotSet;
  Values inputs = m.root->inputs;
  inputs[1] = contents::constant(build, w->type.dtype, dims, kept);
  inputs[1]->name = w->name;
  return build.one(op_conv, conv, inputs);
}

std::vector<Rule> make() {
  return {{"crop-taps-in-padding", "conv(x, w) → conv(x, w without taps that only padding meets)",
           is(op_conv, {any("x"), constant("w")}).rest(), crop_taps}};
}

}  // namespace

MICA_RULES(taps) = {.rank = 11, .make = make};

}  // namespace mica
