#include "canonical.h"

#include <unordered_map>

#include "ir/text.h"

namespace mica::support {
namespace {

// Rebuilds a graph from its outputs upwards: values in the order in which they are first needed.
class Rebuilder {
 public:
  explicit Rebuilder(const Graph& from) : from_(from) { to_.dims = from.dims; }

  Graph run() {
    for (size_t i = 0; i < from_.inputs.size(); ++i) {
      Value* made = to_.make_value(from_.inputs[i]->type, from_.input_names[i]);
      to_.inputs.push_back(made);
      to_.input_names.push_back(from_.input_names[i]);
      of_[from_.inputs[i]] = made;
    }
    for (size_t i = 0; i < from_.outputs.size(); ++i) to_.add_output(value_of(from_.outputs[i]), from_.output_names[i]);
    return std::move(to_);
  }

 private:
  Value* value_of(const Value* value) {
    if (!value) return nullptr;
    if (const auto known = of_.find(value); known != of_.end()) return known->second;
    if (!value->producer) return of_[value] = to_.add_constant(value->constant);
    const Node& node = *value->producer;
    auto made = std::make_unique<Node>();
    made->op = node.op;
    made->attributes_blob = node.attributes_blob;
    for (const Value* input : node.inputs) made->inputs.push_back(value_of(input));
    for (const auto& region : node.regions) made->regions.push_back(std::make_unique<Graph>(Rebuilder(*region).run()));
    for (const Value* output : node.outputs) {
      made->outputs.push_back(output ? to_.make_value(output->type) : nullptr);
      if (output) of_[output] = made->outputs.back();
      if (output) made->outputs.back()->producer = made.get();
    }
    to_.nodes.push_back(std::move(made));
    return of_.at(value);
  }

  const Graph& from_;
  Graph to_;
  std::unordered_map<const Value*, Value*> of_;
};

}  // namespace

std::string canonical_text(const Graph& graph) { return to_text(Rebuilder(graph).run(), {.contents = true}); }

}  // namespace mica::support
