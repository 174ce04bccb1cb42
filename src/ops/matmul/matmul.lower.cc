#include "ir/product_epilogue.h"
#include "ops/matmul/product_step.h"

namespace mica {
namespace {

std::vector<PackWish> pack(const Node& node) {
  if (node.inputs[1]->type.shape.rank < 2) return {};
  return {{1, matmul::product_key(false, 1)}};
}

}  // namespace

MICA_LOWER(matmul) = {.absorbs = absorbed_by_product, .pack = pack};

}  // namespace mica
