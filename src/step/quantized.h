// Steps between 8-bit image tensors and fp32 ones with channels innermost.
#pragma once
#include "step/channels_last.h"

namespace mica {

// A zero point that is known at bind, or an operand of one element.
struct ZeroPoint {
  int32_t value = 0;
  int operand = -1;
};

// A temporary that holds float(x) - zero for 8-bit operand `index`; operand -1 when its strides do not suit.
Result<ImageOperand> read_widened(BindScope& scope, int index, const TensorView& tensor, ZeroPoint zero);

// How sums become output `index`. `multipliers`: one for each channel, in the scope's memory.
struct NarrowSpec {
  int index = 0;
  const float* multipliers = nullptr;
  const int32_t* biases = nullptr;  // likewise, added to the sums; only with multipliers
  int32_t zero = 0;
};
// Adds the steps from fp32 sums (a temporary without gaps, channels innermost) to an output of u8, i8 or (without
// multipliers) i32. Check with `can_narrow` first.
bool can_narrow(const TensorView& out);
Status write_narrowed(BindScope& scope, const ImageOperand& sums, const TensorView& out, const NarrowSpec& spec);

// A temporary without gaps, channels innermost, for an fp32 image of `tensor`'s shape; operand -1 for shapes that are
// no image.
Result<ImageOperand> temporary_image(BindScope& scope, const TensorView& tensor);

}  // namespace mica
