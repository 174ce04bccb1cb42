#include "ir/builder.h"

#include <algorithm>

namespace mica {

void Builder::check_attributes(const OpDef& op, size_t bytes) {
  if (bytes != op.attributes.bytes)
    fail(Code::kInternal, "`{}` has {} bytes of attributes, given {}", op.name, op.attributes.bytes, bytes);
}

Values Builder::add(const OpDef& op, const void* attributes, Values inputs, int outputs) {
  return add_with_regions(op, attributes, std::move(inputs), {}, outputs);
}

Values Builder::add_with_regions(const OpDef& op, const void* attributes, Values inputs,
                                 std::vector<std::unique_ptr<Graph>> regions, int outputs) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  const int given = static_cast<int>(inputs.size());
  if (given < op.inputs.min || (op.inputs.max != kAnyNumber && given > op.inputs.max))
    fail(Code::kBadModel, "`{}` takes {} to {} inputs, got {}", op.name, op.inputs.min,
         op.inputs.max == kAnyNumber ? std::string("any number of") : std::to_string(op.inputs.max), given);
  for (int i = 0; i < op.inputs.min; ++i)
    if (!inputs[static_cast<size_t>(i)])
      fail(Code::kBadModel, "`{}` needs its input {}, which is left out", op.name, i);
  if (outputs == 0) outputs = op.outputs.min;
  if (outputs < op.outputs.min || (op.outputs.max != kAnyNumber && outputs > op.outputs.max))
    fail(Code::kBadModel, "`{}` has {} to {} outputs, asked for {}", op.name, op.outputs.min,
         op.outputs.max == kAnyNumber ? std::string("any number of") : std::to_string(op.outputs.max), outputs);
  if (static_cast<int>(regions.size()) != op.regions)
    fail(Code::kInternal, "`{}` has {} regions, given {}", op.name, op.regions, regions.size());
  auto node = std::make_unique<Node>();
  node->op = &op;
  node->name = name_;
  node->inputs = std::move(inputs);
  node->regions = std::move(regions);
  node->attributes_blob.resize(op.attributes.bytes);
  if (attributes)
    std::copy_n(static_cast<const std::byte*>(attributes), op.attributes.bytes, node->attributes_blob.data());
  else if (op.attributes.init)
    op.attributes.init(node->attributes_blob.data());
  return insert(std::move(node), outputs);
}

// Nothing is added when inference fails: the values made for the node are the newest of the pool.
Values Builder::insert(std::unique_ptr<Node> node, int outputs) {
  const size_t pool = graph_.value_pool.size();
  for (int i = 0; i < outputs; ++i) {
    Value* value = graph_.make_value();
    value->producer = node.get();
    value->output = i;
    node->outputs.push_back(value);
  }
  try {
    infer_node(graph_, *node);
  } catch (...) {
    graph_.value_pool.resize(pool);
    throw;
  }
  Values made = node->outputs;
  const size_t at = at_end_ ? graph_.nodes.size() : std::min(position_, graph_.nodes.size());
  graph_.nodes.insert(graph_.nodes.begin() + static_cast<ptrdiff_t>(at), std::move(node));
  if (!at_end_) position_ = at + 1;
  return made;
}

Value* Builder::constant(DType dtype, std::span<const int64_t> dims, const void* bytes) {
  return graph_.add_constant(Constant::make(dtype, dims, bytes));
}

Value* Builder::scalar(DType dtype, double value) {
  std::array<std::byte, 16> element{};
  if (kind_of(dtype) == NumberKind::kString) fail(Code::kBadType, "a string cannot be made from a number");
  // Integers beyond 2^53 have no exact double; those that have one are stored exactly.
  if (is_integer(dtype) && !is_sub_byte(dtype))
    store_int(dtype, element.data(), static_cast<int64_t>(value));
  else
    store_number(dtype, element.data(), value);
  return constant(dtype, {}, element.data());
}

Value* Builder::ints(std::span<const int64_t> list) {
  const int64_t count = static_cast<int64_t>(list.size());
  return constant(DType::kI64, std::span(&count, 1), list.data());
}

Value* Builder::floats(std::span<const float> list) {
  const int64_t count = static_cast<int64_t>(list.size());
  return constant(DType::kF32, std::span(&count, 1), list.data());
}

}  // namespace mica
