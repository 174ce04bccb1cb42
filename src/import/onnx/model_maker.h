// Builds models in memory for the tests of the importer.
#pragma once
#include <initializer_list>
#include <string>

#include "import/onnx/onnx.h"
#include "import/onnx/onnx.pb.h"

namespace mica::onnx {

struct ModelMaker {
  ::mica_onnx::Model model;

  explicit ModelMaker(int opset = 17) {
    model.set_ir_version(8);
    auto* set = model.add_opset_import();
    set->set_domain("");
    set->set_version(opset);
    graph()->set_name("g");
  }
  ::mica_onnx::Graph* graph() { return model.mutable_graph(); }

  using Dims = std::initializer_list<std::string>;  // numbers, names, or "" for neither
  static void set_type(::mica_onnx::ValueInfo* info, const std::string& name, int dtype, Dims dims) {
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor();
    tensor->set_elem_type(dtype);
    tensor->mutable_shape();
    for (const std::string& dim : dims) {
      auto* to = tensor->mutable_shape()->add_dim();
      if (dim.empty()) continue;
      if (dim[0] == '-' || (dim[0] >= '0' && dim[0] <= '9'))
        to->set_dim_value(std::stoll(dim));
      else
        to->set_dim_param(dim);
    }
  }
  void input(const std::string& name, Dims dims, int dtype = 1) { set_type(graph()->add_input(), name, dtype, dims); }
  void output(const std::string& name) { graph()->add_output()->set_name(name); }

  using Names = std::initializer_list<std::string>;
  template <class Owner>
  static ::mica_onnx::Node* add_node(Owner* owner, const std::string& op, Names inputs, Names outputs) {
    auto* node = owner->add_node();
    node->set_op_type(op);
    node->set_name("n_" + *outputs.begin());
    for (const std::string& name : inputs) node->add_input(name);
    for (const std::string& name : outputs) node->add_output(name);
    return node;
  }
  ::mica_onnx::Node* node(const std::string& op, Names inputs, Names outputs) {
    return add_node(graph(), op, inputs, outputs);
  }
  static ::mica_onnx::Attribute* attribute(::mica_onnx::Node* node, const std::string& name, int type) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }
  static void set_int(::mica_onnx::Node* node, const std::string& name, int64_t value) {
    attribute(node, name, 2)->set_i(value);
  }
  ::mica_onnx::Tensor* initializer(const std::string& name, int dtype, std::initializer_list<int64_t> dims) {
    auto* tensor = graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(dtype);
    for (int64_t d : dims) tensor->add_dims(d);
    return tensor;
  }

  std::string bytes() const { return model.SerializeAsString(); }
  Result<Graph> import(const ImportOptions& options = {}, const std::string& folder = {}) const {
    const std::string text = bytes();
    return import_onnx({.path = {}, .bytes = std::as_bytes(std::span(text.data(), text.size())), .folder = folder},
                       options);
  }
};

}  // namespace mica::onnx
