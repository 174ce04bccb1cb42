// Image tensors for kernels that want channels innermost: their strides, and steps that bring them into that order and
// back.
#pragma once
#include "step/run.h"

namespace mica {

// [N, C, spatial...] with up to three spatial axes as depth, height, width; strides in elements.
struct ImageView {
  int64_t images = 1, channels = 1, extent[3] = {1, 1, 1};
  int64_t image = 0, channel = 1, depth = 0, row = 0, pixel = 0;
  int64_t pixels() const { return extent[0] * extent[1] * extent[2]; }
  bool channels_last() const { return channels == 1 || channel == 1; }
};

// False for tensors of rank 1 or above 5, sub-byte types, and strides that are no whole number of elements.
bool image_view(const TensorView& tensor, ImageView& view);

// The same image without gaps, channels innermost.
ImageView dense_channels_last(const ImageView& view);

// An operand that a kernel can use: which one, and how it lies.
struct ImageOperand {
  int operand = 0;
  ImageView view;
};

// Operand `index` (fp32) with channels innermost: itself, or a temporary that a step fills from it. Ok with operand -1
// when its strides allow neither.
Result<ImageOperand> read_channels_last(BindScope& scope, int index, const TensorView& tensor);

// Where a kernel may write output `index` with channels innermost: itself, or a temporary. `finish_channels_last`,
// called after the kernel's own steps are added, adds the step that copies it over.
Result<ImageOperand> write_channels_last(BindScope& scope, int index, const TensorView& tensor);
Status finish_channels_last(BindScope& scope, int index, const TensorView& tensor, const ImageOperand& written);

// Adds the step between an image whose pixels and one whose channels are adjacent, in either direction.
Status turn_image(BindScope& scope, const ImageOperand& from, const ImageOperand& to);

}  // namespace mica
