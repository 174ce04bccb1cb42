// Adds nodes to a graph and infers their types at once, so that importers and rules can look at what they made.
#pragma once
#include "ir/graph.h"

namespace mica {

using Values = std::vector<Value*>;

class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}
  Graph& graph() { return graph_; }
  DimTable& dims() { return *graph_.dims; }

  // Appends a node. `inputs` may hold null for operands left out (trailing ones are dropped). Throws Failure with what
  // inference finds. `outputs`: how many to make (at least OpDef::outputs.min when 0).
  Values add(const OpDef& op, const void* attributes, Values inputs, int outputs = 0);
  template <class A>
  requires std::is_class_v<A> Values add(const OpDef& op, const A& attributes, Values inputs, int outputs = 0) {
    static_assert(std::is_trivially_copyable_v<A>);
    check_attributes(op, sizeof(A));
    return add(op, static_cast<const void*>(&attributes), std::move(inputs), outputs);
  }
  Values add(const OpDef& op, Values inputs, int outputs = 0) {
    return add(op, static_cast<const void*>(nullptr), std::move(inputs), outputs);
  }
  // A node with regions (If, Loop, Scan); captures are already appended to `inputs` and to the regions' inputs.
  Values add_with_regions(const OpDef& op, const void* attributes, Values inputs,
                          std::vector<std::unique_ptr<Graph>> regions, int outputs);

  // One output, the common case.
  template <class A>
  Value* one(const OpDef& op, const A& attributes, Values inputs) {
    return add(op, attributes, std::move(inputs), 1)[0];
  }
  Value* one(const OpDef& op, Values inputs) { return add(op, std::move(inputs), 1)[0]; }
  // The same node over other operands.
  Value* again(const Node& node, Values inputs) {
    return add(*node.op, node.attributes_blob.data(), std::move(inputs), 1)[0];
  }

  Value* constant(DType dtype, std::span<const int64_t> dims, const void* bytes);
  Value* scalar(DType dtype, double value);    // rank 0
  Value* ints(std::span<const int64_t> list);  // i64, rank 1
  Value* floats(std::span<const float> list);  // f32, rank 1

  // A name prefix for nodes added from here on (the source node's name).
  void set_name(std::string name) { name_ = std::move(name); }
  const std::string& name() const { return name_; }
  // Where new nodes go: before nodes[index]; the end by default. Moves on as nodes are added.
  void insert_at(size_t index) {
    position_ = index;
    at_end_ = false;
  }
  void insert_at_end() { at_end_ = true; }

 private:
  static void check_attributes(const OpDef& op, size_t bytes);  // kInternal when the struct is another operator's
  Values insert(std::unique_ptr<Node> node, int outputs);

  Graph& graph_;
  std::string name_;
  size_t position_ = 0;
  bool at_end_ = true;
};

// Runs inference for a node of `graph` (types, values, contents of small results; also of what stands in its regions).
// Throws Failure naming the node. `changed`, when given, tells whether an output's type or known contents became
// others. Symbols that an earlier run made for data-dependent dimensions are kept.
void infer_node(Graph& graph, Node& node, bool* changed = nullptr);

// infer_node for each node, in order.
void infer_graph(Graph& graph);

}  // namespace mica
