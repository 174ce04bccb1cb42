// Bytes to a checked model structure: what the rest of the importer reads keeps the limits.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "import/onnx/onnx.pb.h"
#include "import/source.h"
#include "ir/graph.h"

namespace mica::onnx {

namespace pb = ::mica_onnx;

// Versions of operator sets, by domain ("" is ai.onnx).
using Opsets = std::map<std::string, int, std::less<>>;

inline std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

struct FunctionKey {
  std::string domain, name, overload;
  auto operator<=>(const FunctionKey&) const = default;
};

struct Model {
  // The message and all below it: what stands in an arena is freed also where memory ran out half way.
  std::unique_ptr<google::protobuf::Arena> arena;
  pb::Model* proto = nullptr;  // tensors' contents are moved out of it as they are imported
  Opsets opsets;
  std::map<FunctionKey, pb::Function*> functions;
  std::string folder;                // for external data; empty: none may be read
  std::vector<std::string> written;  // ImportOptions::written
};

// Throws Failure: kIo, kBadModel, kLimit.
Model read_model(const Source& source);
// The versions a list of imports names; a model older than operator sets has version 1 of ai.onnx.
Opsets read_opsets(const google::protobuf::RepeatedPtrField<pb::OperatorSet>& list);

}  // namespace mica::onnx
