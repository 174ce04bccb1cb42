// Operators of com.microsoft that are other spellings of standard ones.
#include "ops/contrib/expand.import.h"
#include "ops/move/trilu.h"

namespace mica {
MICA_DECLARE_OP(inverse);
MICA_DECLARE_OP(trilu);

namespace {

Values expand_dims(const SourceNode& node, Builder& build) {
  return {build.one(op_unsqueeze, {node.input(0), build.ints(node.constant_ints(1))})};
}
Values trilu(const SourceNode& node, Builder& build) {
  return {build.one(op_trilu, Trilu{.upper = node.integer("upper", 1) != 0}, {node.input(0), node.optional(1)})};
}

constexpr std::string_view kDomain = "com.microsoft";

}  // namespace

MICA_SPELLINGS(contrib, {Format::kOnnx, kDomain, "ExpandDims", 1, kLatest, expand_dims},
               {Format::kOnnx, kDomain, "Inverse", 1, kLatest, direct<op_inverse>},
               {Format::kOnnx, kDomain, "Trilu", 1, kLatest, trilu});

}  // namespace mica
