#include "ops/conv/conv.h"

#include "ir/spelling.h"
#include "ops/conv/conv_transpose.h"

namespace mica {
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(conv_integer);
MICA_DECLARE_OP(qlinear_conv);
MICA_DECLARE_OP(conv_transpose);

namespace {

// `kernel_shape` repeats the weights' spatial dimensions.
void check_kernel(const SourceNode& node, const Value& weights) {
  const auto kernel = node.ints("kernel_shape");
  const Shape& shape = weights.type.shape;
  if (kernel.empty() || !shape.known()) return;
  if (static_cast<int>(kernel.size()) != shape.rank - 2)
    fail(Code::kBadAttribute, "`kernel_shape` has {} items, the weights have {} spatial axes", kernel.size(),
         shape.rank - 2);
  for (size_t i = 0; i < kernel.size(); ++i)
    if (const Dim d = shape[static_cast<int>(i) + 2]; d.is_fixed() && !d.is(kernel[i]))
      fail(Code::kBadAttribute, "`kernel_shape` holds {} where the weights have {}", kernel[i], d.value());
}

template <class A>
A attributes_of(const SourceNode& node, size_t weights) {
  A a;
  read_attributes_by_name(node, attr_class<A>(), &a);
  a.groups = node.integer("group", 1);
  check_kernel(node, *node.input(weights));
  return a;
}

template <const OpDef& op, size_t kWeights>
Values import_conv(const SourceNode& node, Builder& build) {
  return build.add(op, attributes_of<Conv>(node, kWeights), node.inputs, 1);
}

// `output_shape` may begin with batch and channels.
Values import_transpose(const SourceNode& node, Builder& build) {
  auto a = attributes_of<ConvTranspose>(node, 1);
  const Shape& weights = node.input(1)->type.shape;
  if (weights.known() && static_cast<int>(a.output_shape.size()) == weights.rank) {
    Ints spatial;
    for (size_t i = 2; i < a.output_shape.size(); ++i) spatial.push(a.output_shape[i]);
    a.output_shape = spatial;
  }
  return build.add(op_conv_transpose, a, node.inputs, 1);
}

}  // namespace

MICA_SPELLINGS(conv, {Format::kOnnx, "", "Conv", 1, kLatest, import_conv<op_conv, 1>},
               {Format::kOnnx, "", "ConvInteger", 10, kLatest, import_conv<op_conv_integer, 1>},
               {Format::kOnnx, "", "QLinearConv", 10, kLatest, import_conv<op_qlinear_conv, 3>},
               {Format::kOnnx, "", "ConvTranspose", 1, kLatest, import_transpose});

}  // namespace mica
