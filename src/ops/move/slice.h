#pragma once
#include <algorithm>

#include "types/operand.h"

namespace mica {

// Per axis, elements begin, begin + step, …: `length` of them.
struct SliceCut {
  int64_t begin[kMaxRank] = {}, length[kMaxRank] = {}, step[kMaxRank];
  SliceCut() { std::fill_n(step, kMaxRank, 1); }
};

// What the operands of a slice choose of `in`, whose data is not looked at. Axes and steps are null when left out.
// Errors: kBadShape when the lists disagree, kBadAttribute for wrong axes, kBadValue for steps of 0.
struct SliceOperands {
  const TensorView *starts, *ends, *axes, *steps;
};
Result<SliceCut> slice_cut(const TensorView& in, const SliceOperands& operands);

}  // namespace mica
