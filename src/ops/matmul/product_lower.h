// The packed form of the second operand of matmul and gemm, for the file.
#pragma once
#include "ir/lower.h"
#include "ops/matmul/product_step.h"

namespace mica::matmul {

inline std::vector<PackWish> pack_right(const Node& node, bool flipped, float alpha) {
  const Value& right = *node.inputs[1];
  const Shape& shape = right.type.shape;
  if (!right.constant || right.type.dtype != DType::kF32 || !shape.fixed() || shape.rank < 2) return {};
  return {{1, product_key(flipped, alpha)}};
}

}  // namespace mica::matmul
