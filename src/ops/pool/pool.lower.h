// Layouts of pooling: when planes stay planes.
#pragma once
#include "ir/lower.h"
#include "kernels/pool/pool.h"
#include "ops/pool/pool.h"

namespace mica::pool {

// Whether rows of planes are pooled as they are; sizes have to be known.
template <class A>
bool keeps_planes(const Node& node) {
  const PoolAttributes& a = node.attributes<A>();
  const Value& x = *node.inputs[0];
  if (x.type.dtype != DType::kF32 || a.kernel.empty() || !x.type.shape.known()) return false;
  const auto last_of = [](const Ints& list) { return list.empty() ? 1 : list[list.size() - 1]; };
  const Dim width = node.outputs[0]->type.shape[x.type.shape.rank - 1];
  if (!width.is_fixed()) return false;
  PoolProblem p{.kernel = {1, 1, last_of(a.kernel)},
                .stride = {1, 1, last_of(a.strides)},
                .dilation = {1, 1, last_of(a.dilations)}};
  p.out[2] = width.value();
  p.in_view.pixel = p.out_view.pixel = 1;
  return suits_planes(p);
}

}  // namespace mica::pool
