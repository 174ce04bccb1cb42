#include "ir/product_epilogue.h"
#include "kernels/pack/form.h"

namespace mica {
namespace {

std::vector<PackWish> pack(const Node& node) {
  const Value& weights = *node.inputs[1];
  if (!weights.constant || weights.type.dtype != DType::kF32) return {};
  return {{1, key_of({PackKind::kPanels16, PackLayout::kConv, 1})}};
}

}  // namespace

MICA_LOWER(pixel_conv) = {.absorbs = absorbed_by_product, .pack = pack};

}  // namespace mica
