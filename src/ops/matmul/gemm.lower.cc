#include "ops/matmul/gemm.h"
#include "ir/product_epilogue.h"
#include "ops/matmul/product_step.h"

namespace mica {
namespace {

// A factor is multiplied into the weights when they are packed at load.
std::vector<PackWish> pack(const Node& node) {
  const auto& g = node.attributes<Gemm>();
  if (g.alpha != 1) return {};
  return {{1, matmul::product_key(g.transpose_b, 1)}};
}

}  // namespace

MICA_LOWER(gemm) = {.absorbs = absorbed_by_product, .pack = pack};

}  // namespace mica
