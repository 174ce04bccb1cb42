#include "ir/product_epilogue.h"
#include "ops/matmul/product_lower.h"

namespace mica {
namespace {

std::vector<PackWish> pack(const Node& node) { return matmul::pack_right(node, false, 1); }

}  // namespace

MICA_LOWER(matmul) = {.absorbs = absorbed_by_product, .pack = pack};

}  // namespace mica
