#include "ops/conv/deform_conv.h"

#include "ir/spelling.h"

namespace mica {
MICA_DECLARE_OP(deform_conv);

namespace {

Values import_deform_conv(const SourceNode& node, Builder& build) {
  DeformConv a;
  read_attributes_by_name(node, attr_class<DeformConv>(), &a);
  a.groups = node.integer("group", 1);
  a.offset_groups = node.integer("offset_group", 1);
  node.ignore("kernel_shape");
  return build.add(op_deform_conv, a, node.inputs, 1);
}

}  // namespace

MICA_SPELLINGS(deform_conv, {Format::kOnnx, "", "DeformConv", 19, kLatest, import_deform_conv});

}  // namespace mica
