// Indexing operators as ONNX spells them.
#include "ir/spelling.h"
#include "ops/index/non_max_suppression.h"
#include "ops/index/scatter.h"
#include "ops/index/top_k.h"
#include "ops/index/unique.h"

namespace mica {
MICA_DECLARE_OP(gather);
MICA_DECLARE_OP(gather_elements);
MICA_DECLARE_OP(gather_nd);
MICA_DECLARE_OP(scatter_elements);
MICA_DECLARE_OP(scatter_nd);
MICA_DECLARE_OP(non_zero);
MICA_DECLARE_OP(unique);
MICA_DECLARE_OP(top_k);
MICA_DECLARE_OP(non_max_suppression);
MICA_DECLARE_OP(det);
namespace {

Values unique(const SourceNode& node, Builder& build) {
  const Unique attributes{
      .axis = node.integer("axis", 0), .flat = !node.has("axis"), .sorted = node.integer("sorted", 1) != 0};
  return build.add(op_unique, attributes, {node.input(0)}, node.outputs());
}

Values top_k(const SourceNode& node, Builder& build) {
  const TopK attributes{.axis = node.integer("axis", -1),
                        .largest = node.integer("largest", 1) != 0,
                        .sorted = node.integer("sorted", 1) != 0};
  Value* k = nullptr;
  if (node.version < 10) {
    const int64_t count = node.integer("k");
    k = build.ints(std::span(&count, 1));
  } else {
    k = node.input(1);
  }
  return build.add(op_top_k, attributes, {node.input(0), k}, 2);
}

Values non_max_suppression(const SourceNode& node, Builder& build) {
  return build.add(op_non_max_suppression, NonMaxSuppression{.center = node.integer("center_point_box", 0) != 0},
                   node.inputs);
}

}  // namespace

MICA_SPELLINGS(index, {Format::kOnnx, "", "Gather", 1, kLatest, direct<op_gather>},
               {Format::kOnnx, "", "GatherElements", 11, kLatest, direct<op_gather_elements>},
               {Format::kOnnx, "", "GatherND", 11, kLatest, direct<op_gather_nd>},
               {Format::kOnnx, "", "Scatter", 9, kLatest, direct<op_scatter_elements>},
               {Format::kOnnx, "", "ScatterElements", 11, kLatest, direct<op_scatter_elements>},
               {Format::kOnnx, "", "ScatterND", 11, kLatest, direct<op_scatter_nd>},
               {Format::kOnnx, "", "NonZero", 9, kLatest, direct<op_non_zero>},
               {Format::kOnnx, "", "Unique", 11, kLatest, unique}, {Format::kOnnx, "", "TopK", 1, kLatest, top_k},
               {Format::kOnnx, "", "NonMaxSuppression", 10, kLatest, non_max_suppression},
               {Format::kOnnx, "", "Det", 11, kLatest, direct<op_det>});

}  // namespace mica
