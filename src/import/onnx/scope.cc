#include "import/onnx/scope.h"

#include <algorithm>

#include "base/nearest.h"

namespace mica::onnx {

void copy_knowledge(const Value& from, Value& to) {
  to.type = from.type;
  to.values = from.values;
  to.has_values = from.has_values;
  to.known = from.known;
  to.quant = from.quant;
}

void Scope::add_initializers(pb::Graph& proto) {
  for (pb::Tensor& tensor : *proto.mutable_initializer())
    if (!dense_.emplace(tensor.name(), &tensor).second)
      fail(Code::kBadModel, "two initializers are named `{}`", tensor.name());
  for (pb::SparseTensor& tensor : *proto.mutable_sparse_initializer())
    if (is_initializer(tensor.values().name()) || !sparse_.emplace(tensor.values().name(), &tensor).second)
      fail(Code::kBadModel, "two initializers are named `{}`", tensor.values().name());
}

void Scope::add_hints(const pb::Graph& proto) {
  for (const pb::ValueInfo& info : proto.value_info()) hints.emplace(info.name(), &info);
}

void Scope::define(const std::string& name, Value* value) {
  if (is_initializer(name) || !values_.emplace(name, value).second)
    fail(Code::kBadModel, "two values are named `{}`", name);
}

Value* Scope::find(const std::string& name) {
  if (const auto known = values_.find(name); known != values_.end()) return known->second;
  const auto make = [&](auto& tensor) -> Value* {
    try {
      return values_[name] = graph.add_constant(tensors_.read(tensor), prefix + name);
    } catch (const Failure& failure) {
      throw Failure(failure.error->copy().at("initializer `" + name + "`"));
    }
  };
  if (const auto dense = dense_.find(name); dense != dense_.end()) return make(*dense->second);
  if (const auto sparse = sparse_.find(name); sparse != sparse_.end()) return make(*sparse->second);
  Value* outer = outer_ ? outer_->find(name) : nullptr;
  return outer ? values_[name] = capture(*outer, name) : nullptr;
}

Value* Scope::capture(Value& outer, const std::string& name) {
  if (outer.constant) return graph.add_constant(outer.constant, outer.name);
  if (const auto known = captured_.find(&outer); known != captured_.end()) return known->second;
  captures_->push_back(&outer);
  return add_capture_input(outer, name);
}

Value* Scope::add_capture_input(const Value& outer, const std::string& name) {
  const auto taken = [&](const std::string& text) {
    return std::ranges::find(graph.input_names, text) != graph.input_names.end();
  };
  std::string text = name;
  for (int n = 2; taken(text); ++n) text = name + "_" + std::to_string(n);
  Value* input = graph.add_input(outer.type, text);
  copy_knowledge(outer, *input);
  return captured_[&outer] = input;
}

void Scope::surround(Scope& outer, Values& captures) {
  outer_ = &outer;
  captures_ = &captures;
  for (const Value* value : captures) add_capture_input(*value, value->name);
}

std::string_view Scope::nearest(const std::string& name) const {
  Nearest nearest(name);
  for (const auto& [known, value] : values_) nearest.offer(known);
  for (const auto& [known, tensor] : dense_) nearest.offer(known);
  return nearest.best();
}

}  // namespace mica::onnx
