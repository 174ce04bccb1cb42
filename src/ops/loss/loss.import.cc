#include "ops/loss/loss.h"

#include "ir/spelling.h"

namespace mica {
MICA_DECLARE_OP(nll_loss);
MICA_DECLARE_OP(softmax_cross_entropy);

namespace {

template <const OpDef& op>
Values import_loss(const SourceNode& node, Builder& build) {
  ClassLoss a;
  read_attributes_by_name(node, attr_class<ClassLoss>(), &a);
  a.ignores = node.has("ignore_index");
  Values made = build.add(op, a, node.inputs, std::max(node.outputs(), 1));
  Node& added = *made[0]->producer;
  for (size_t i = 0; i < made.size(); ++i)
    if (!node.wants(i)) added.outputs[i] = nullptr;
  return made;
}

}  // namespace

MICA_SPELLINGS(loss, {Format::kOnnx, "", "NegativeLogLikelihoodLoss", 12, kLatest, import_loss<op_nll_loss>},
               {Format::kOnnx, "", "SoftmaxCrossEntropyLoss", 12, kLatest, import_loss<op_softmax_cross_entropy>});

}  // namespace mica
