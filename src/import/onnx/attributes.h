// Attributes of nodes in neutral form.
#pragma once
#include <deque>

#include "import/onnx/scope.h"

namespace mica::onnx {

// What `SourceAttribute::graphs` points to: a graph and where its outer names are looked up.
struct GraphRef {
  pb::Graph* graph;
  Scope* scope;
};

// Reads a node's attributes. References to attributes of the function around are replaced by `scope.bindings`; those
// that the call leaves out are left out. `graphs` keeps what the result points to. Throws Failure.
Bindings read_attributes(google::protobuf::RepeatedPtrField<pb::Attribute>& list, Scope& scope, Tensors& tensors,
                         std::deque<GraphRef>& graphs);

}  // namespace mica::onnx
