#include "ops/matmul/gemm.h"
#include "ir/product_epilogue.h"
#include "ops/matmul/product_lower.h"

namespace mica {
namespace {

std::vector<PackWish> pack(const Node& node) {
  const auto& g = node.attributes<Gemm>();
  return matmul::pack_right(node, g.transpose_b, g.alpha);
}

}  // namespace

MICA_LOWER(gemm) = {.absorbs = absorbed_by_product, .pack = pack};

}  // namespace mica
