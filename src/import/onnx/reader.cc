#include "import/onnx/reader.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "base/file.h"
#include "import/onnx/limits.h"

namespace mica::onnx {
namespace {

// Walks graphs in graphs and counts.
class Checker {
 public:
  void graph(const pb::Graph& graph, int depth) {
    if (depth > kMaxNesting) fail(Code::kLimit, "graphs are nested deeper than {}", kMaxNesting);
    name(graph.name(), "graph");
    operands(graph.input_size(), "graph inputs");
    operands(graph.output_size(), "graph outputs");
    for (const auto& value : graph.input()) info(value);
    for (const auto& value : graph.output()) info(value);
    for (const auto& value : graph.value_info()) info(value);
    for (const auto& tensor : graph.initializer()) name(tensor.name(), "initializer");
    for (const auto& tensor : graph.sparse_initializer()) name(tensor.values().name(), "initializer");
    nodes(graph.node(), depth);
  }

  void nodes(const google::protobuf::RepeatedPtrField<pb::Node>& list, int depth) {
    count_ += list.size();
    if (count_ > kMaxNodes) fail(Code::kLimit, "the model has more than {} nodes", kMaxNodes);
    for (const pb::Node& node : list) {
      for (const std::string* text : {&node.name(), &node.op_type(), &node.domain(), &node.overload()})
        name(*text, "node");
      operands(node.input_size(), "inputs of a node");
      operands(node.output_size(), "outputs of a node");
      for (const std::string& text : node.input()) name(text, "value");
      for (const std::string& text : node.output()) name(text, "value");
      for (const pb::Attribute& attribute : node.attribute()) {
        name(attribute.name(), "attribute");
        if (attribute.has_g()) graph(attribute.g(), depth + 1);
        for (const pb::Graph& inner : attribute.graphs()) graph(inner, depth + 1);
      }
    }
  }

 private:
  static void name(const std::string& text, std::string_view of) {
    if (text.size() > kMaxNameBytes)
      fail(Code::kLimit, "the name of a {} has {} bytes: at most {} are supported", of, text.size(), kMaxNameBytes);
  }
  static void operands(int count, std::string_view what) {
    if (count > kMaxOperands) fail(Code::kLimit, "{} {}: at most {} are supported", count, what, kMaxOperands);
  }
  static void info(const pb::ValueInfo& value) {
    name(value.name(), "value");
    for (const auto& dim : value.type().tensor().shape().dim()) name(dim.dim_param(), "dimension");
  }

  int64_t count_ = 0;
};

void parse(Bytes bytes, Model& to) {
  if (bytes.size() > kMaxModelBytes)
    fail(Code::kLimit, "the model has {} bytes: at most {} are supported, keep weights in external data", bytes.size(),
         kMaxModelBytes);
  to.arena = std::make_unique<google::protobuf::Arena>();
  to.proto = google::protobuf::Arena::CreateMessage<pb::Model>(to.arena.get());
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxMessageDepth);
  if (!to.proto->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    throw Failure(
        error(Code::kBadModel, "the bytes are no ONNX model, or it is cut short").hinting("is the download complete?"));
  if (!to.proto->has_graph()) fail(Code::kBadModel, "the bytes are no ONNX model: there is no graph");
}

}  // namespace

Opsets read_opsets(const google::protobuf::RepeatedPtrField<pb::OperatorSet>& list) {
  Opsets opsets;
  for (const pb::OperatorSet& set : list) {
    const int64_t version = set.version();
    if (version < 0 || version > 1 << 16)
      fail(Code::kBadModel, "operator set `{}` has the version {}", set.domain(), version);
    int& known = opsets[std::string(plain_domain(set.domain()))];
    known = std::max(known, static_cast<int>(version));
  }
  opsets.emplace("", 1);
  return opsets;
}

Model read_model(const Source& source) {
  Model model;
  if (source.bytes.data()) {
    parse(source.bytes, model);
    model.folder = source.folder;
  } else {
    const MappedFile file = value_or_throw(MappedFile::open(source.path));
    parse(file.bytes(), model);
    model.folder = folder_of(source.path);
  }
  Checker checker;
  checker.graph(model.proto->graph(), 1);
  model.opsets = read_opsets(model.proto->opset_import());
  for (pb::Function& function : *model.proto->mutable_functions()) {
    checker.nodes(function.node(), 1);
    const FunctionKey key{std::string(plain_domain(function.domain())), function.name(), function.overload()};
    if (!model.functions.emplace(key, &function).second)
      fail(Code::kBadModel, "function `{}` is defined twice", key.name);
  }
  return model;
}

}  // namespace mica::onnx
