// How normalisations are spelled.
#include "ir/spelling.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/group_norm.h"
#include "ops/norm/instance_norm.h"
#include "ops/norm/layer_norm.h"
#include "ops/norm/lp_norm.h"
#include "ops/norm/lrn.h"
#include "ops/norm/mean_variance_norm.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(batch_norm);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(group_norm);
MICA_DECLARE_OP(instance_norm);
MICA_DECLARE_OP(layer_norm);
MICA_DECLARE_OP(lp_norm);
MICA_DECLARE_OP(lrn);
MICA_DECLARE_OP(mean_variance_norm);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(sqrt);
MICA_DECLARE_OP(sub);

namespace {

Values hide_unwanted(const SourceNode& node, Values made) {
  Node* producer = made[0]->producer;
  for (size_t i = 1; i < made.size(); ++i)
    if (!node.wants(i)) producer->outputs[i] = nullptr;
  return made;
}

// Before version 9, `spatial` = 0: with a scale, a shift, a mean and a variance for every element of a sample.
Value* norm_of_elements(const SourceNode& node, Builder& build) {
  Value* x = node.input(0);
  const DType dtype = node.input(4)->type.dtype;
  Value* variance = build.one(op_add, {node.input(4), build.scalar(dtype, node.number("epsilon", 1e-5f))});
  Value* scale = build.one(op_div, {node.input(1), build.one(op_sqrt, {variance})});
  return build.one(op_add, {build.one(op_mul, {build.one(op_sub, {x, node.input(3)}), scale}), node.input(2)});
}

Values batch_norm(const SourceNode& node, Builder& build) {
  for (const char* key : {"consumed_inputs", "is_test", "momentum"}) node.ignore(key);
  if (node.integer("spatial", 1) == 0 && node.input(1)->type.shape.known() && node.input(1)->type.shape.rank > 1) {
    if (node.outputs() > 1) fail(Code::kUnsupportedOperator, "a batch normalization of each element that is trained");
    return {norm_of_elements(node, build)};
  }
  BatchNorm attributes{.epsilon = node.number("epsilon", 1e-5f), .momentum = node.number("momentum", 0.9f)};
  int outputs = 1;
  for (size_t i = 1; i < node.output_names.size(); ++i)
    if (node.wants(i)) outputs = static_cast<int>(i) + 1;
  // Before version 14 more than one output means training.
  attributes.training = node.version >= 14 ? node.integer("training_mode", 0) != 0 : outputs > 1;
  Values made = hide_unwanted(node, build.add(op_batch_norm, attributes, node.inputs, std::min(outputs, 3)));
  if (outputs > 3) {
    // Outputs 3 and 4 of those versions, saved for the gradient: the batch's own mean and variance, which are the
    // running ones of a normalisation that keeps nothing of the old.
    attributes.momentum = 0;
    const Values saved = build.add(op_batch_norm, attributes, node.inputs, 3);
    made.push_back(saved[1]);
    if (outputs > 4) made.push_back(saved[2]);
  }
  return made;
}

Values instance_norm(const SourceNode& node, Builder& build) {
  node.ignore("consumed_inputs");
  return build.add(op_instance_norm, InstanceNorm{.epsilon = node.number("epsilon", 1e-5f)}, node.inputs, 1);
}

LayerNorm row_attributes(const SourceNode& node) {
  LayerNorm attributes{.axis = node.integer("axis", -1), .epsilon = node.number("epsilon", 1e-5f)};
  attributes.statistics = source_dtype(node.format, node.integer("stash_type", 1));
  if (!is_float(attributes.statistics)) fail(Code::kBadAttribute, "attribute `stash_type` is no floating-point type");
  return attributes;
}
Values layer_norm(const SourceNode& node, Builder& build) {
  const int outputs = node.wants(2) ? 3 : node.wants(1) ? 2 : 1;
  return hide_unwanted(node, build.add(op_layer_norm, row_attributes(node), node.inputs, outputs));
}
template <bool per_group>
Values group_norm(const SourceNode& node, Builder& build) {
  node.ignore("stash_type");
  const GroupNorm attributes{
      .groups = node.integer("num_groups"), .epsilon = node.number("epsilon", 1e-5f), .per_group = per_group};
  return build.add(op_group_norm, attributes, node.inputs, 1);
}

Values mean_variance_norm(const SourceNode& node, Builder& build) {
  return build.add(op_mean_variance_norm, MeanVarianceNorm{.axes = node.int_list("axes", {0, 2, 3})}, node.inputs, 1);
}

}  // namespace

MICA_SPELLINGS(norm, {Format::kOnnx, "", "BatchNormalization", 1, kLatest, batch_norm},
               {Format::kOnnx, "", "GroupNormalization", 18, 20, group_norm<true>},
               {Format::kOnnx, "", "GroupNormalization", 21, kLatest, group_norm<false>},
               {Format::kOnnx, "", "InstanceNormalization", 1, kLatest, instance_norm},
               {Format::kOnnx, "", "LRN", 1, kLatest, direct<op_lrn>},
               {Format::kOnnx, "", "LayerNormalization", 17, kLatest, layer_norm},
               {Format::kOnnx, "", "LpNormalization", 1, kLatest, direct<op_lp_norm>},
               {Format::kOnnx, "", "MeanVarianceNormalization", 9, kLatest, mean_variance_norm});

}  // namespace mica
