// From a convolution's operands to the numbers that its kernels want; bind and the packing for files share it.
#pragma once
#include <type_traits>

#include "kernels/conv/transpose.h"
#include "kernels/pack/form.h"
#include "ops/conv/conv.h"
#include "types/packing.h"

namespace mica::conv {

// Sizes and window of a 1- to 3-dimensional convolution or, from TransposeSizes, of a transposed one (fewer axes become
// outer ones of extent 1); views stay empty. The window stands on the input, or on the transposed one's output. False
// for more axes.
template <class Problem, class AnySizes>
bool kernel_problem(const AnySizes& s, Problem& p) {
  constexpr bool kTransposed = std::is_same_v<Problem, ConvTransposeProblem>;
  const int spatial = s.window.spatial;
  if (spatial > 3) return false;
  p = {};
  p.images = s.batch;
  p.groups = s.groups;
  p.in_channels = s.groups * s.group_in;
  p.out_channels = s.groups * s.group_out;
  for (int i = 0; i < spatial; ++i) {
    const int to = 3 - spatial + i;
    const auto from = static_cast<size_t>(i);
    p.in[to] = kTransposed ? s.window.out[from] : s.window.in[from];
    p.out[to] = kTransposed ? s.window.in[from] : s.window.out[from];
    p.kernel[to] = s.window.kernel[from];
    p.stride[to] = s.window.stride[from];
    p.dilation[to] = s.window.dilation[from];
    p.pad[to] = s.window.pad_begin[from];
  }
  return true;
}

// The form of the weights that an algorithm reads; it depends on them, the groups and strides of 2 alone.
inline PackKey pack_key(const ConvProblem& p, ConvAlgorithm algorithm) {
  if (algorithm == ConvAlgorithm::kDepthwise) return key_of({PackKind::kDepthwise16, PackLayout::kConv, p.groups});
  if (algorithm == ConvAlgorithm::kGrouped) return key_of({PackKind::kGrouped16, PackLayout::kConv, p.groups});
  PackKey key = key_of({PackKind::kPanels16, PackLayout::kConv, p.groups});
  if (algorithm == ConvAlgorithm::kSpread) key.kind = static_cast<uint32_t>(PackKind::kSpread16);
  if (kWithFilter && algorithm == ConvAlgorithm::kFilter) key.kind = static_cast<uint32_t>(PackKind::kFilter);
  if (algorithm == ConvAlgorithm::kStrassen) key.kind = static_cast<uint32_t>(PackKind::kStrassen16);
  if (algorithm == ConvAlgorithm::kPaired) key.kind = static_cast<uint32_t>(PackKind::kPaired16);
  if (is_winograd(algorithm)) {
    key.kind = static_cast<uint32_t>(PackKind::kWinograd);
    key.parameters[1] = static_cast<int64_t>(algorithm);
    for (int64_t stride : p.stride) key.parameters[2] = key.parameters[2] * 2 + (stride == 2);
  }
  return key;
}

}  // namespace mica::conv
