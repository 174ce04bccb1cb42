// Attributes of transposed convolution.
#pragma once
#include "types/window.h"

namespace mica {

struct ConvTranspose {
  Ints strides, dilations, pads, output_padding, output_shape;
  AutoPad auto_pad = AutoPad::kNotSet;
  int64_t groups = 1;
  template <class V>
  void visit(V&& v) {
    v("strides", strides, "step of the output per spatial axis; 1 when empty");
    v("dilations", dilations, "distance of the kernel's taps per spatial axis; 1 when empty");
    v("pads", pads, "outputs cut off before each spatial axis, then after each; 0 when empty");
    v("output_padding", output_padding, "outputs added at the end of each spatial axis; 0 when empty");
    v("output_shape", output_shape,
      "the output's spatial dimensions, from which the pads follow; empty: from the pads");
    v("auto_pad", auto_pad, "same_upper and same_lower: pads that give input * stride outputs");
    v("groups", groups, "channels are split into so many independent convolutions");
  }
  WindowSpec window() const { return {strides, dilations, pads, AutoPad::kNotSet}; }
};

namespace conv {

// Along one spatial axis: the output's size and how much of the full result is cut off before it (negative: added).
struct TransposedAxis {
  Dim out;
  Dim cut;
};
inline TransposedAxis transposed_axis(const ConvTranspose& a, SpatialAxis axis, Dim in, Dim kernel, DimTable& dims) {
  const auto i = static_cast<size_t>(axis.index);
  const int64_t stride = a.strides.get(i, 1);
  const Dim extent = dims.add(dims.mul(dims.sub(kernel, 1), a.dilations.get(i, 1)), 1);
  const Dim full = dims.add(dims.add(dims.mul(dims.sub(in, 1), stride), extent), a.output_padding.get(i, 0));
  const bool same = a.auto_pad == AutoPad::kSameUpper || a.auto_pad == AutoPad::kSameLower;
  if (a.output_shape.empty() && !same) {
    const bool pads = a.auto_pad == AutoPad::kNotSet;
    const int64_t begin = pads ? a.pads.get(i, 0) : 0,
                  end = pads ? a.pads.get(i + static_cast<size_t>(axis.count), 0) : 0;
    return {dims.sub(full, begin + end), begin};
  }
  const Dim out = a.output_shape.empty() ? dims.mul(in, stride) : Dim(a.output_shape[i]);
  const Dim total = dims.sub(full, out), half = dims.floor_div(total, 2);
  if (total.is_fixed() && total.value() < 0) return {out, 0};  // what is added stands behind, as TensorFlow has it
  return {out, a.auto_pad == AutoPad::kSameUpper ? half : dims.sub(total, half)};
}

}  // namespace conv
}  // namespace mica
