// What products and convolutions do on their results before they store them.
#pragma once
#include "ir/lower.h"

namespace mica {

// The kernels' epilogues: a bias per column, one residual, one activation; more of them run as steps over a result that
// is still in the caches.
inline bool absorbed_by_product(const Node& node, Pointwise f, bool per_channel) {
  if (node.outputs.empty() || node.outputs[0]->type.dtype != DType::kF32) return false;
  switch (f) {
    case Pointwise::kRelu:
    case Pointwise::kLeakyRelu:
    case Pointwise::kClip:
    case Pointwise::kHardSwish:
    case Pointwise::kHardSigmoid:
    case Pointwise::kSilu:
    case Pointwise::kSigmoid:
    case Pointwise::kTanh:
    case Pointwise::kGelu: return true;
    case Pointwise::kAdd: return !per_channel || node.inputs.size() < 3 || !node.inputs[2];
    default: return false;
  }
}

}  // namespace mica
