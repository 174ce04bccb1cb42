// How reductions are spelled.
#include "ops/reduce/reduce.h"
#include "ir/spelling.h"
#include "ops/reduce/arg_reduce.h"
#include "ops/reduce/cumulate.h"
#include "ops/reduce/softmax.h"

namespace mica {

MICA_DECLARE_OP(arg_reduce);
MICA_DECLARE_OP(cumulate);
MICA_DECLARE_OP(hardmax);
MICA_DECLARE_OP(log_softmax);
MICA_DECLARE_OP(reduce);
MICA_DECLARE_OP(softmax);

namespace {

// Axes are an attribute in older versions and an input in newer ones.
template <ReduceKind kind>
Values reduction(const SourceNode& node, Builder& build) {
  const Reduce attributes{.kind = kind,
                          .keep_dims = node.integer("keepdims", 1) != 0,
                          .keep_when_empty = node.integer("noop_with_empty_axes", 0) != 0};
  Value* axes = node.optional(1);
  if (node.has("axes")) axes = build.ints(node.ints("axes"));
  return build.add(op_reduce, attributes, {node.input(0), axes}, 1);
}

template <bool smallest>
Values arg_reduction(const SourceNode& node, Builder& build) {
  const ArgReduce attributes{.axis = node.integer("axis", 0),
                             .smallest = smallest,
                             .keep_dims = node.integer("keepdims", 1) != 0,
                             .last = node.integer("select_last_index", 0) != 0};
  return build.add(op_arg_reduce, attributes, node.inputs, 1);
}

template <bool product>
Values cumulation(const SourceNode& node, Builder& build) {
  const Cumulate attributes{
      .product = product, .exclusive = node.integer("exclusive", 0) != 0, .reverse = node.integer("reverse", 0) != 0};
  return build.add(op_cumulate, attributes, node.inputs, 1);
}

// Up to version 12 the tensor is seen as a matrix whose rows begin at `axis`.
template <const OpDef& op>
Values flat(const SourceNode& node, Builder& build) {
  return build.add(op, Softmax{.axis = node.integer("axis", 1), .to_end = true}, node.inputs, 1);
}
template <const OpDef& op>
Values along_axis(const SourceNode& node, Builder& build) {
  return build.add(op, Softmax{.axis = node.integer("axis", -1)}, node.inputs, 1);
}

}  // namespace

MICA_SPELLINGS(reduce, {Format::kOnnx, "", "ArgMax", 1, kLatest, arg_reduction<false>},
               {Format::kOnnx, "", "ArgMin", 1, kLatest, arg_reduction<true>},
               {Format::kOnnx, "", "CumProd", 26, kLatest, cumulation<true>},
               {Format::kOnnx, "", "CumSum", 11, kLatest, cumulation<false>},
               {Format::kOnnx, "", "Hardmax", 1, 12, flat<op_hardmax>},
               {Format::kOnnx, "", "Hardmax", 13, kLatest, along_axis<op_hardmax>},
               {Format::kOnnx, "", "LogSoftmax", 1, 12, flat<op_log_softmax>},
               {Format::kOnnx, "", "LogSoftmax", 13, kLatest, along_axis<op_log_softmax>},
               {Format::kOnnx, "", "ReduceL1", 1, kLatest, reduction<ReduceKind::kL1>},
               {Format::kOnnx, "", "ReduceL2", 1, kLatest, reduction<ReduceKind::kL2>},
               {Format::kOnnx, "", "ReduceLogSum", 1, kLatest, reduction<ReduceKind::kLogSum>},
               {Format::kOnnx, "", "ReduceLogSumExp", 1, kLatest, reduction<ReduceKind::kLogSumExp>},
               {Format::kOnnx, "", "ReduceMax", 1, kLatest, reduction<ReduceKind::kMax>},
               {Format::kOnnx, "", "ReduceMean", 1, kLatest, reduction<ReduceKind::kMean>},
               {Format::kOnnx, "", "ReduceMin", 1, kLatest, reduction<ReduceKind::kMin>},
               {Format::kOnnx, "", "ReduceProd", 1, kLatest, reduction<ReduceKind::kProd>},
               {Format::kOnnx, "", "ReduceSum", 1, kLatest, reduction<ReduceKind::kSum>},
               {Format::kOnnx, "", "ReduceSumSquare", 1, kLatest, reduction<ReduceKind::kSumSquare>},
               {Format::kOnnx, "", "Softmax", 1, 12, flat<op_softmax>},
               {Format::kOnnx, "", "Softmax", 13, kLatest, along_axis<op_softmax>});

}  // namespace mica
