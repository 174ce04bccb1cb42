#include "import/onnx/attributes.h"

#include "import/onnx/types.h"

namespace mica::onnx {
namespace {

using Kind = SourceAttribute::Kind;

// The numbers of AttributeProto.AttributeType in the ONNX specification.
enum class AttributeCode : int32_t {
  kUndefined = 0,
  kFloat,
  kInt,
  kString,
  kTensor,
  kGraph,
  kFloats,
  kInts,
  kStrings,
  kTensors,
  kGraphs,
  kSparseTensor,
  kSparseTensors,
  kTypeProto,
  kTypeProtos
};

// Models of the first format version leave the type out: the field that is set tells.
AttributeCode code_of(const pb::Attribute& a) {
  if (a.type() != 0) return static_cast<AttributeCode>(a.type());
  if (a.has_f()) return AttributeCode::kFloat;
  if (a.has_i()) return AttributeCode::kInt;
  if (a.has_s()) return AttributeCode::kString;
  if (a.has_t()) return AttributeCode::kTensor;
  if (a.has_g()) return AttributeCode::kGraph;
  if (a.floats_size()) return AttributeCode::kFloats;
  if (a.strings_size()) return AttributeCode::kStrings;
  if (a.tensors_size()) return AttributeCode::kTensors;
  if (a.graphs_size()) return AttributeCode::kGraphs;
  return AttributeCode::kInts;
}

class Reader {
 public:
  Reader(Scope& scope, Tensors& tensors, std::deque<GraphRef>& graphs)
      : scope_(scope), tensors_(tensors), graphs_(graphs) {}

  SourceAttribute read(pb::Attribute& a) {
    SourceAttribute to;
    switch (code_of(a)) {
      case AttributeCode::kFloat:
        to.kind = Kind::kFloat;
        to.f = a.f();
        break;
      case AttributeCode::kInt:
        to.kind = Kind::kInt;
        to.i = a.i();
        break;
      case AttributeCode::kString:
        to.kind = Kind::kText;
        to.text = a.s();
        break;
      case AttributeCode::kFloats:
        to.kind = Kind::kFloats;
        to.floats.assign(a.floats().begin(), a.floats().end());
        break;
      case AttributeCode::kInts:
        to.kind = Kind::kInts;
        to.ints.assign(a.ints().begin(), a.ints().end());
        break;
      case AttributeCode::kStrings:
        to.kind = Kind::kTexts;
        to.texts.assign(a.strings().begin(), a.strings().end());
        break;
      case AttributeCode::kTensor:
        to.kind = Kind::kTensor;
        to.tensors.push_back(tensors_.read(*a.mutable_t()));
        break;
      case AttributeCode::kSparseTensor:
        to.kind = Kind::kTensor;
        to.tensors.push_back(tensors_.read(*a.mutable_sparse_tensor()));
        break;
      case AttributeCode::kTensors:
        to.kind = Kind::kTensors;
        for (pb::Tensor& tensor : *a.mutable_tensors()) to.tensors.push_back(tensors_.read(tensor));
        break;
      case AttributeCode::kGraph:
        to.kind = Kind::kGraph;
        add_graph(to, *a.mutable_g());
        break;
      case AttributeCode::kGraphs:
        to.kind = Kind::kGraphs;
        for (pb::Graph& graph : *a.mutable_graphs()) add_graph(to, graph);
        break;
      case AttributeCode::kTypeProto:
        to.kind = Kind::kType;
        to.type = read_type(a.tp(), *scope_.graph.dims, "type");
        break;
      default: fail(Code::kUnsupportedModel, "attribute `{}` has the unknown type {}", a.name(), a.type());
    }
    return to;
  }

 private:
  void add_graph(SourceAttribute& to, pb::Graph& graph) {
    graphs_.push_back({&graph, &scope_});
    to.graphs.push_back(&graphs_.back());
  }
  Scope& scope_;
  Tensors& tensors_;
  std::deque<GraphRef>& graphs_;
};

}  // namespace

Bindings read_attributes(google::protobuf::RepeatedPtrField<pb::Attribute>& list, Scope& scope, Tensors& tensors,
                         std::deque<GraphRef>& graphs) {
  Bindings attributes;
  Reader reader(scope, tensors, graphs);
  for (pb::Attribute& a : list) {
    if (a.name().empty()) fail(Code::kBadModel, "an attribute has no name");
    if (!a.ref_attr_name().empty()) {
      if (!scope.bindings)
        fail(Code::kBadModel, "attribute `{}` refers to a function's `{}`, but stands in none", a.name(),
             a.ref_attr_name());
      if (const auto bound = scope.bindings->find(a.ref_attr_name()); bound != scope.bindings->end())
        attributes[a.name()] = bound->second;
      continue;
    }
    if (!attributes.emplace(a.name(), reader.read(a)).second)
      fail(Code::kBadModel, "attribute `{}` is given twice", a.name());
  }
  return attributes;
}

}  // namespace mica::onnx
