#include "ir/graph.h"

#include <unordered_map>

namespace mica {

ConstantPtr Constant::own(OwnedTensor tensor) {
  auto keep = std::make_shared<OwnedTensor>(std::move(tensor));
  auto constant = std::make_shared<Constant>();
  constant->view = keep->view();
  constant->keep = std::move(keep);
  return constant;
}

ConstantPtr Constant::make(DType dtype, std::span<const int64_t> dims, const void* bytes) {
  if (dims.size() > kMaxRank)
    fail(Code::kLimit, "a constant of rank {}: at most {} dimensions are supported", dims.size(), kMaxRank);
  // A view does not change what it shows; the copy below only reads.
  return own(value_or_throw(OwnedTensor::copy_of(dense_view(const_cast<void*>(bytes), dtype, dims))));
}

Value* Graph::make_value(Type type, std::string value_name) {
  Value& value = value_pool.emplace_back();
  value.type = type;
  value.name = std::move(value_name);
  return &value;
}

Value* Graph::add_input(Type type, std::string input_name) {
  Value* value = make_value(type, input_name);
  inputs.push_back(value);
  input_names.push_back(std::move(input_name));
  return value;
}

Value* Graph::add_constant(ConstantPtr constant, std::string value_name) {
  Value* value = make_value(Type::tensor(constant->view.dtype, constant->view.to_shape()), std::move(value_name));
  value->constant = std::move(constant);
  return value;
}

void Graph::add_output(Value* value, std::string output_name) {
  outputs.push_back(value);
  output_names.push_back(std::move(output_name));
}

std::unique_ptr<Graph> clone(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  copy->name = graph.name;
  copy->dims = graph.dims;
  copy->input_names = graph.input_names;
  copy->output_names = graph.output_names;
  copy->metadata = graph.metadata;
  copy->states = graph.states;
  copy->keep = graph.keep;
  std::unordered_map<const Value*, Value*> of;
  of.reserve(graph.value_pool.size());
  for (const Value& value : graph.value_pool) {
    Value& made = copy->value_pool.emplace_back(value);
    made.producer = nullptr;
    of[&value] = &made;
  }
  const auto translate = [&](const std::vector<Value*>& list) {
    std::vector<Value*> result;
    result.reserve(list.size());
    for (const Value* value : list) result.push_back(value ? of.at(value) : nullptr);
    return result;
  };
  copy->inputs = translate(graph.inputs);
  copy->outputs = translate(graph.outputs);
  for (const auto& node : graph.nodes) {
    auto made = std::make_unique<Node>();
    made->op = node->op;
    made->attributes_blob = node->attributes_blob;
    made->inputs = translate(node->inputs);
    made->outputs = translate(node->outputs);
    made->name = node->name;
    for (const auto& region : node->regions) made->regions.push_back(clone(*region));
    for (Value* value : made->outputs)
      if (value) value->producer = made.get();
    copy->nodes.push_back(std::move(made));
  }
  return copy;
}

}  // namespace mica
