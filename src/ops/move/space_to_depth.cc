#include "ops/move/blocks.h"

namespace mica {

MICA_OP(space_to_depth) = {.name = "space_to_depth",
                           .doc = "Blocks of space gathered into channels: [N, C, H·b, W·b] to [N, C·b², H, W]",
                           .attributes = attr_class<BlockMove>(),
                           .infer = [](InferScope& scope) { return move::infer_blocks(scope, true); },
                           .reference = [](RunScope& scope) { return move::move_blocks(scope, true); },
                           .flops = [](const CostScope&) -> int64_t { return 0; },
                           .layout = LayoutRule::kAny};

}  // namespace mica
