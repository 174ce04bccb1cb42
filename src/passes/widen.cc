#include "passes/widen.h"

#include <algorithm>

#include "ir/builder.h"
#include "ops/pointwise/cast.h"
#include "types/attr_fields.h"

namespace mica {

MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(conv_transpose);
MICA_DECLARE_OP(gemm);
MICA_DECLARE_OP(matmul);

namespace {

bool is_half(const Value* v) {
  return v && v->type.is_tensor() && (v->type.dtype == DType::kF16 || v->type.dtype == DType::kBf16);
}

bool is_product(const Node& node) {
  const OpDef* products[] = {&op_conv, &op_conv_transpose, &op_gemm, &op_matmul};
  return std::ranges::find(products, node.op) != std::end(products) && is_half(node.inputs[0]);
}

ConstantPtr widened(const Constant& half) {
  OwnedTensor tensor = value_or_throw(OwnedTensor::make(DType::kF32, half.view.shape()));
  const Elements from(half.view), to(tensor.view());
  for (int64_t i = 0, n = half.view.count(); i < n; ++i) to.set_number(i, from.number(i));
  return Constant::own(std::move(tensor));
}

// Every element-type attribute that names a half type.
class WidenAttributes final : public EachField<WidenAttributes> {
 public:
  void each(std::string_view, DType& value, std::string_view) {
    if (value == DType::kF16 || value == DType::kBf16) value = DType::kF32;
  }
  template <class T>
  void each(std::string_view, const T&, std::string_view) {}
  void choice(std::string_view, int64_t&, std::span<const std::string_view>, std::string_view) override {}
};

Value* cast_to(Builder& build, Value* from, DType to) {
  Cast cast;
  cast.to = to;
  return build.one(op_cast, cast, {from});
}

}  // namespace

int64_t widen_half(Graph& graph) {
  const auto has_regions = [](const auto& node) { return !node->regions.empty(); };
  if (std::ranges::any_of(graph.nodes, has_regions) ||
      std::ranges::none_of(graph.nodes, [](const auto& node) { return is_product(*node); }))
    return 0;
  int64_t widened_values = 0;
  const std::vector<DType> output_types = [&] {
    std::vector<DType> types;
    for (const Value* v : graph.outputs) types.push_back(v->type.dtype);
    return types;
  }();
  for (Value& value : graph.value_pool)
    if (value.constant && is_half(&value)) {
      value.constant = widened(*value.constant);
      value.known = nullptr;
      value.type.dtype = DType::kF32;
      ++widened_values;
    }
  std::map<Value*, Value*> inputs;
  Builder build(graph);
  build.insert_at(0);
  const size_t old_nodes = graph.nodes.size();
  for (Value* input : graph.inputs)
    if (is_half(input)) inputs[input] = cast_to(build, input, DType::kF32);
  for (size_t i = graph.nodes.size() - old_nodes; i < graph.nodes.size(); ++i) {
    Node& node = *graph.nodes[i];
    for (Value*& v : node.inputs)
      if (const auto found = inputs.find(v); found != inputs.end()) v = found->second;
    WidenAttributes visitor;
    if (node.op->attributes.visit) node.op->attributes.visit(node.attributes_blob.data(), visitor);
    for (Value* v : node.outputs)
      if (v) {
        v->known = nullptr;
        widened_values += is_half(v);
      }
    infer_node(graph, node);
  }
  build.insert_at_end();
  for (size_t k = 0; k < graph.outputs.size(); ++k)
    if (graph.outputs[k]->type.dtype != output_types[k]) {
      const std::string name = graph.outputs[k]->name;
      graph.outputs[k] = cast_to(build, graph.outputs[k], output_types[k]);
      graph.outputs[k]->name = name;
    }
  return widened_values;
}

}  // namespace mica
