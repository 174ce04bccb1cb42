// The packed form of the second operand of matmul and gemm, for the file.
#pragma once
#include "ir/lower.h"
#include "ops/matmul/product_step.h"

namespace mica::matmul {

inline std::vector<PackedConstant> pack_right(const Node& node, bool flipped, float alpha) {
  const Value& right = *node.inputs[1];
  const Shape& shape = right.type.shape;
  if (!right.constant || right.type.dtype != DType::kF32 || !shape.fixed() || shape.rank < 2) return {};
  const int64_t rows = shape[shape.rank - 2].value(), columns = shape[shape.rank - 1].value();
  if (rows == 0 || columns == 0) return {};
  const int64_t k = flipped ? columns : rows, n = flipped ? rows : columns;
  const ProductPacking sizes{k, n, right.constant->view.count() / (rows * columns), flipped, alpha};
  PackedConstant packed{1, product_key(flipped, alpha), {}};
  packed.bytes.resize(static_cast<size_t>(panels_size(k, n) * sizes.matrices) * sizeof(float));
  pack_product(right.constant->view, packed.bytes.data(), &sizes);
  std::vector<PackedConstant> all;
  all.push_back(std::move(packed));
  return all;
}

}  // namespace mica::matmul
