// Which value a name stands for: the names of one graph or of one call of a function.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "import/onnx/tensor.h"
#include "ir/spelling.h"

namespace mica::onnx {

// Attributes that a function's body refers to by the name of its own.
using Bindings = std::map<std::string, SourceAttribute, std::less<>>;

// A region's scope looks further in the scope around it: what it finds there becomes an input of the region (a
// capture), or a constant of the region's own. A function's scope has nothing around it.
class Scope {
 public:
  Scope(Graph& to, Tensors& contents, const Opsets& versions) : graph(to), opsets(versions), tensors_(contents) {}

  // Names that are known by their contents; each becomes a value when it is first asked for.
  void add_initializers(pb::Graph& proto);
  void add_hints(const pb::Graph& proto);
  bool is_initializer(const std::string& name) const { return dense_.contains(name) || sparse_.contains(name); }
  // Throws kBadModel when the name is taken.
  void define(const std::string& name, Value* value);
  // Makes the name stand for an operand that the caller of a function leaves out.
  void leave_out(const std::string& name) { values_[name] = nullptr; }
  bool is_left_out(const std::string& name) const {
    const auto found = values_.find(name);
    return found != values_.end() && !found->second;
  }
  // Null when nobody makes such a value.
  Value* find(const std::string& name);
  std::string_view nearest(const std::string& name) const;

  // Makes this a region's scope. `captures` are values around it that the region has as inputs, in order, from now on
  // and later.
  void surround(Scope& outer, Values& captures);

  Graph& graph;
  const Opsets& opsets;
  const Bindings* bindings = nullptr;
  std::string prefix;                                           // of the names of values and nodes that a call makes
  int depth = 1;                                                // graphs around, this one included
  int calls = 0;                                                // functions around
  std::unordered_map<std::string, const pb::ValueInfo*> hints;  // what the model declares of inner values

 private:
  Value* capture(Value& outer, const std::string& name);
  Value* add_capture_input(const Value& outer, const std::string& name);

  Tensors& tensors_;
  Scope* outer_ = nullptr;
  Values* captures_ = nullptr;
  std::unordered_map<const Value*, Value*> captured_;
  std::unordered_map<std::string, Value*> values_;
  std::unordered_map<std::string, pb::Tensor*> dense_;
  std::unordered_map<std::string, pb::SparseTensor*> sparse_;
};

// Knowledge of one value for another that will have the same contents.
void copy_knowledge(const Value& from, Value& to);

}  // namespace mica::onnx
