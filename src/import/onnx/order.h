// The order in which nodes are imported.
#pragma once
#include <unordered_map>
#include <vector>

#include "import/onnx/reader.h"

namespace mica::onnx {

using NodeList = google::protobuf::RepeatedPtrField<pb::Node>;

// Names that graphs use and do not define themselves, each once, in the order of their first use.
class FreeNames {
 public:
  const std::vector<std::string>& of(const pb::Graph& graph);
  // Inputs of a node and what its regions use from around them.
  std::vector<std::string> of(const pb::Node& node);

 private:
  std::unordered_map<const pb::Graph*, std::vector<std::string>> known_;
};

// The nodes that `wanted` values need, each after those it needs, and otherwise in the order of the list. Throws
// kBadModel when a name has two producers or nodes need each other in a circle.
std::vector<int> dependency_order(const NodeList& nodes, const std::vector<std::string>& wanted, FreeNames& free_names);

}  // namespace mica::onnx
