#include "ops/move/blocks.h"

namespace mica {

MICA_OP(depth_to_space) = {.name = "depth_to_space",
                           .doc = "Channels of blocks spread into space: [N, C·b², H, W] to [N, C, H·b, W·b]",
                           .attributes = attr_class<BlockMove>(),
                           .infer = [](InferScope& scope) { return move::infer_blocks(scope, false); },
                           .reference = [](RunScope& scope) { return move::move_blocks(scope, false); },
                           .flops = [](const CostScope&) -> int64_t { return 0; },
                           .layout = LayoutRule::kAny};

}  // namespace mica
