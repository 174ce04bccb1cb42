// Most changes are mild enough for the importer to accept some of what comes out: a refusal at the first node tests
// little.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "change.h"
#include "import/onnx/onnx.pb.h"

namespace mica::fuzz {
namespace {

namespace pb = ::mica_onnx;

constexpr int kDTypes = 28;  // numbers of ONNX's element types and one beyond

constexpr const char* kOps[] = {"Add",
                                "Conv",
                                "MatMul",
                                "Gather",
                                "Resize",
                                "Reshape",
                                "Tile",
                                "Expand",
                                "Range",
                                "Pad",
                                "Slice",
                                "Concat",
                                "Loop",
                                "If",
                                "Scan",
                                "Einsum",
                                "OneHot",
                                "ScatterND",
                                "GatherND",
                                "Split",
                                "Div",
                                "Mod",
                                "Softmax",
                                "ReduceSum",
                                "TopK",
                                "Transpose",
                                "ConstantOfShape",
                                "RoiAlign",
                                "Unsqueeze",
                                "Squeeze",
                                "Gemm",
                                "LRN",
                                "MaxPool",
                                "AveragePool",
                                "NonMaxSuppression",
                                "STFT",
                                "DFT",
                                "Upsample",
                                "Compress",
                                "EyeLike",
                                "Trilu",
                                "GridSample",
                                "BitShift",
                                "Cast",
                                "Unique",
                                "QLinearMatMul",
                                "ConvInteger",
                                "Col2Im",
                                "ReverseSequence",
                                "LSTM",
                                "GRU",
                                "CumSum",
                                "DepthToSpace",
                                "SpaceToDepth",
                                "ArgMax",
                                "ScatterElements",
                                "Flatten",
                                "Where",
                                "MelWeightMatrix",
                                "Attention",
                                "GroupNormalization"};
// They take what they get.
constexpr const char* kEasyOps[] = {"Relu",      "Neg",       "Identity",   "Abs",     "Softmax",
                                    "ReduceSum", "Transpose", "Shape",      "Flatten", "NonZero",
                                    "Squeeze",   "Sqrt",      "ReduceMax",  "ArgMin",  "Size",
                                    "Sigmoid",   "Cast",      "LogSoftmax", "Not",     "GlobalMaxPool"};
constexpr const char* kPairOps[] = {"Add", "Mul", "Concat", "MatMul", "Max", "Div", "Where", "Gather", "Equal"};
constexpr const char* kAttributes[] = {
    "axis",           "group",     "kernel_shape", "pads",        "strides",    "dilations", "axes",
    "perm",           "to",        "keepdims",     "hidden_size", "blocksize",  "mode",      "num_outputs",
    "output_padding", "ceil_mode", "auto_pad",     "batch_dims",  "block_size", "direction", "num_heads"};

// An element, or null.
template <class T>
T* pick(google::protobuf::RepeatedPtrField<T>* list, Random& random) {
  return list->empty() ? nullptr : list->Mutable(static_cast<int>(below(static_cast<size_t>(list->size()), random)));
}
template <class T>
T* pick(google::protobuf::RepeatedField<T>* list, Random& random) {
  return list->empty() ? nullptr : list->Mutable(static_cast<int>(below(static_cast<size_t>(list->size()), random)));
}
template <size_t N>
const char* word(const char* const (&words)[N], Random& random) {
  return words[below(N, random)];
}

int64_t small(Random& random) { return static_cast<int64_t>(below(8, random)) - 2; }
int64_t value(Random& random) { return random() % 3 ? small(random) : any_number(random); }

class OnnxChange {
 public:
  OnnxChange(pb::Model& model, Random& random) : model_(model), random_(random) {}

  void once(const std::string& other) {
    pb::Graph* graph = any_graph();
    switch (below(20, random_)) {
      case 0: return change_set();
      case 1: return change_order(graph);
      case 2:
      case 3: return change_tensor(pick(graph->mutable_initializer(), random_));
      case 4: return change_type(graph);
      case 5: return change_list(graph);
      case 6: return nest(graph);
      case 7:
      case 8: return change_shape(graph);
      case 9: return retype(graph);
      case 10:
      case 11: return append(graph);
      case 12:
      case 13: return graft(other);
      case 14: return change_function();
      default: return change_node(any_node(graph));
    }
  }

 private:
  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  pb::Graph* any_graph() {
    pb::Graph* graph = model_.mutable_graph();
    for (auto& node : *graph->mutable_node())
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g() && chance(2)) return attribute.mutable_g();
    return graph;
  }
  pb::Node* any_node(pb::Graph* graph) {
    if (model_.functions_size() && chance(4))
      return pick(pick(model_.mutable_functions(), random_)->mutable_node(), random_);
    return pick(graph->mutable_node(), random_);
  }
  std::string any_name(pb::Graph* graph) {
    if (chance(20)) return chance(2) ? "" : "unknown";
    if (chance(4) && graph->initializer_size()) return pick(graph->mutable_initializer(), random_)->name();
    if (chance(3) && graph->input_size()) return pick(graph->mutable_input(), random_)->name();
    pb::Node* node = pick(graph->mutable_node(), random_);
    if (!node) return "x";
    if (chance(2) && node->input_size())
      return node->input(static_cast<int>(below(size_t(node->input_size()), random_)));
    return node->output_size() ? node->output(static_cast<int>(below(size_t(node->output_size()), random_))) : "x";
  }

  void change_set() {
    if (auto* set = pick(model_.mutable_opset_import(), random_))
      set->set_version(chance(4) ? any_number(random_) : static_cast<int64_t>(1 + below(29, random_)));
  }
  void change_order(pb::Graph* graph) {
    const auto n = static_cast<size_t>(graph->node_size());
    if (!n) return;
    const int a = static_cast<int>(below(n, random_)), b = static_cast<int>(below(n, random_));
    switch (below(3, random_)) {
      case 0: graph->mutable_node()->SwapElements(a, b); break;
      case 1: graph->mutable_node()->DeleteSubrange(a, 1); break;
      default: {
        const pb::Node copy = graph->node(a);
        *graph->add_node() = copy;
      }
    }
  }

  void change_tensor(pb::Tensor* tensor) {
    if (!tensor) return;
    switch (below(10, random_)) {
      case 0: return tensor->set_data_type(static_cast<int>(below(kDTypes, random_)));
      case 1: return tensor->add_dims(chance(2) ? 1 : any_number(random_));
      case 2: return tensor->clear_raw_data();
      case 3: tensor->mutable_raw_data()->append(below(20, random_), '\x80'); return;
      case 4:
        if (tensor->dims_size()) *pick(tensor->mutable_dims(), random_) = value(random_);
        return;
      case 5: return change_external(tensor);
      default: return change_contents(tensor);
    }
  }
  void change_external(pb::Tensor* tensor) {
    if (!tensor->external_data_size()) return tensor->set_data_location(static_cast<int>(below(3, random_)));
    static const char* const kPlaces[] = {"weights", "../weights", "/etc/passwd", "..", ".", "", "a\\b", "./weights"};
    auto* entry = pick(tensor->mutable_external_data(), random_);
    if (chance(4)) entry->set_key(chance(2) ? "offset" : "length");
    entry->set_value(chance(3) ? word(kPlaces, random_)
                               : std::to_string(chance(2) ? any_number(random_) : 4 * small(random_)));
  }
  void change_contents(pb::Tensor* tensor) {
    for (int64_t& v : *tensor->mutable_int64_data())
      if (chance(2)) v = value(random_);
    for (float& v : *tensor->mutable_float_data())
      if (chance(2)) v = static_cast<float>(value(random_));
    for (int32_t& v : *tensor->mutable_int32_data())
      if (chance(2)) v = static_cast<int32_t>(value(random_));
    std::string* raw = tensor->mutable_raw_data();
    if (raw->empty()) return tensor->clear_raw_data();
    if (tensor->data_type() == 7)
      for (size_t i = 0; i + 8 <= raw->size(); i += 8) {
        const int64_t v = value(random_);
        if (chance(2)) std::memcpy(raw->data() + i, &v, 8);
      }
    else
      for (size_t k = 1 + below(4, random_); k > 0; --k)
        (*raw)[below(raw->size(), random_)] = static_cast<char>(random_());
  }

  void change_type(pb::Graph* graph) {
    auto* info = pick(graph->mutable_input(), random_);
    if (!info) return;
    auto* tensor = info->mutable_type()->mutable_tensor();
    if (chance(3)) return tensor->set_elem_type(static_cast<int>(below(kDTypes, random_)));
    auto* shape = tensor->mutable_shape();
    if (chance(4) || !shape->dim_size()) return shape->add_dim()->set_dim_value(any_number(random_));
    pick(shape->mutable_dim(), random_)->set_dim_value(any_number(random_));
  }
  // Other sizes, open ones, none at all.
  void change_shape(pb::Graph* graph) {
    auto* info = pick(graph->mutable_input(), random_);
    if (!info || !info->type().has_tensor()) return;
    auto* tensor = info->mutable_type()->mutable_tensor();
    if (chance(8)) return tensor->clear_shape();
    for (auto& dim : *tensor->mutable_shape()->mutable_dim()) {
      if (chance(2)) continue;
      if (chance(3))
        dim.set_dim_param(chance(2) ? "N" : "M");
      else
        dim.set_dim_value(static_cast<int64_t>(below(6, random_)));
    }
  }
  // All inputs and constants of one type get another.
  void retype(pb::Graph* graph) {
    const int from = graph->input_size() ? graph->input(0).type().tensor().elem_type() : 1;
    const int to = 1 + static_cast<int>(below(kDTypes - 1, random_));
    for (auto& info : *graph->mutable_input())
      if (info.type().has_tensor() && info.type().tensor().elem_type() == from)
        info.mutable_type()->mutable_tensor()->set_elem_type(to);
    for (auto& tensor : *graph->mutable_initializer()) {
      if (tensor.data_type() != from || tensor.data_location()) continue;
      int64_t count = 1;
      for (int64_t d : tensor.dims()) count = d < 0 || d > 100000 || count > 100000 ? 100001 : count * d;
      static constexpr int kBytes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2, 1, 1, 1, 1};
      if (to >= int(std::size(kBytes)) || !kBytes[to] || count < 0 || count > 100000) continue;
      tensor.set_data_type(to);
      tensor.clear_float_data();
      tensor.clear_int32_data();
      tensor.clear_int64_data();
      tensor.set_raw_data(std::string(static_cast<size_t>(count) * kBytes[to], static_cast<char>(random_() % 3)));
    }
    for (auto& info : *graph->mutable_output()) info.clear_type();
  }

  void change_list(pb::Graph* graph) {
    switch (below(4, random_)) {
      case 0: graph->clear_output(); break;
      case 1: graph->add_output()->set_name(any_name(graph)); break;
      case 2:
        if (graph->input_size()) graph->mutable_input()->RemoveLast();
        break;
      default: graph->add_input()->set_name(any_name(graph));
    }
  }
  // Branches within branches, up to 200 deep.
  void nest(pb::Graph* graph) {
    pb::Graph inner = *graph;
    if (inner.ByteSizeLong() > 4000) return;
    for (size_t i = below(random_() % 8 ? 4 : 200, random_); i > 0; --i) {
      pb::Graph outer;
      outer.set_name("outer");
      auto* node = outer.add_node();
      node->set_op_type("If");
      node->add_input("p");
      node->add_output("y");
      for (const char* name : {"then_branch", "else_branch"}) {
        if (name[0] == 'e' && i > 3) continue;
        auto* branch = node->add_attribute();
        branch->set_name(name);
        branch->set_type(5);
        *branch->mutable_g() = inner;
      }
      outer.add_output()->set_name("y");
      inner.Swap(&outer);
    }
    graph->Swap(&inner);
  }
  // One node more, whose result is an output too.
  void append(pb::Graph* graph) {
    const std::string first = any_name(graph), second = any_name(graph);
    auto* node = graph->add_node();
    const bool pair = chance(3);
    node->set_op_type(pair ? word(kPairOps, random_) : word(kEasyOps, random_));
    node->add_input(first);
    if (pair) node->add_input(second);
    if (node->op_type() == "Where") node->add_input(first);
    if (node->op_type() == "Cast" || node->op_type() == "Concat" || chance(6)) {
      auto* attribute = node->add_attribute();
      attribute->set_name(node->op_type() == "Cast" ? "to" : "axis");
      attribute->set_type(2);
      attribute->set_i(node->op_type() == "Cast" ? static_cast<int64_t>(below(kDTypes, random_)) : small(random_));
    }
    const std::string name = "appended" + std::to_string(graph->node_size());
    node->add_output(name);
    graph->add_output()->set_name(name);
  }
  // The other model beside this one; one of its inputs may be a value of this one.
  void graft(const std::string& other) {
    pb::Model guest;
    if (!guest.ParseFromString(other) || guest.ByteSizeLong() > 200000) return;
    pb::Graph* graph = model_.mutable_graph();
    const std::string tie = any_name(graph),
                      tied = guest.graph().input_size() && chance(2) ? guest.graph().input(0).name() : "";
    auto rename = [&](std::string* name) {
      if (!name->empty()) *name = !tied.empty() && *name == tied ? tie : "g_" + *name;
    };
    for (auto& tensor : *guest.mutable_graph()->mutable_initializer()) {
      rename(tensor.mutable_name());
      graph->add_initializer()->Swap(&tensor);
    }
    for (auto& info : *guest.mutable_graph()->mutable_input()) {
      if (info.name() == tied) continue;
      rename(info.mutable_name());
      graph->add_input()->Swap(&info);
    }
    for (auto& node : *guest.mutable_graph()->mutable_node()) {
      for (std::string& name : *node.mutable_input()) rename(&name);
      for (std::string& name : *node.mutable_output()) rename(&name);
      graph->add_node()->Swap(&node);
    }
    for (auto& info : *guest.mutable_graph()->mutable_output()) {
      rename(info.mutable_name());
      graph->add_output()->Swap(&info);
    }
    if (guest.opset_import_size() && chance(2)) model_.mutable_opset_import()->Swap(guest.mutable_opset_import());
  }

  void change_function() {
    auto* function = pick(model_.mutable_functions(), random_);
    if (!function) return;
    switch (below(4, random_)) {
      case 0: function->add_input("more"); break;
      case 1:
        if (function->output_size()) function->mutable_output()->RemoveLast();
        break;
      case 2:  // calls itself
        if (auto* node = pick(function->mutable_node(), random_)) {
          node->set_op_type(function->name());
          node->set_domain(function->domain());
        }
        break;
      default: {
        auto* attribute = function->add_attribute_proto();
        attribute->set_name(word(kAttributes, random_));
        attribute->set_type(2);
      }
    }
  }
  void change_node(pb::Node* node) {
    if (!node) return;
    pb::Graph* graph = model_.mutable_graph();
    const int n = node->input_size();
    switch (below(9, random_)) {
      case 0: return node->set_op_type(word(kOps, random_));
      case 1:
        if (n) node->set_input(static_cast<int>(below(static_cast<size_t>(n), random_)), any_name(graph));
        return;
      case 2: return node->add_input(any_name(graph));
      case 3:
        if (n) node->mutable_input()->RemoveLast();
        return;
      case 4: return node->add_output("more" + std::to_string(random_() % 3));
      default: return change_attribute(node);
    }
  }
  void change_attribute(pb::Node* node) {
    auto* attribute = chance(4) ? nullptr : pick(node->mutable_attribute(), random_);
    if (!attribute) {
      attribute = node->add_attribute();
      attribute->set_name(word(kAttributes, random_));
      attribute->set_type(random_() % 2 ? 2 : 7);
      attribute->set_i(value(random_));
      for (size_t i = below(5, random_); i > 0; --i) attribute->add_ints(value(random_));
      return;
    }
    switch (below(10, random_)) {
      case 0: return attribute->set_type(static_cast<int>(below(15, random_)));
      case 1: return attribute->set_name(word(kAttributes, random_));
      case 2: return attribute->add_ints(any_number(random_));
      case 3: return attribute->set_ref_attr_name(attribute->name());
      default: return change_value(attribute);
    }
  }
  void change_value(pb::Attribute* attribute) {
    static const char* const kWords[] = {"cubic", "SAME_UPPER", "reflect", "bidirectional", "a,b->ba", "ij,jk", ""};
    if (attribute->has_t())
      change_tensor(attribute->mutable_t());
    else if (attribute->has_i())
      attribute->set_i(value(random_));
    else if (attribute->ints_size())
      *pick(attribute->mutable_ints(), random_) = value(random_);
    else if (attribute->has_f())
      attribute->set_f(static_cast<float>(value(random_)));
    else if (attribute->floats_size())
      attribute->set_floats(static_cast<int>(below(static_cast<size_t>(attribute->floats_size()), random_)),
                            static_cast<float>(value(random_)));
    else if (attribute->strings_size())
      *pick(attribute->mutable_strings(), random_) = word(kWords, random_);
    else if (attribute->has_s())
      attribute->set_s(word(kWords, random_));
  }

  pb::Model& model_;
  Random& random_;
};

}  // namespace

std::string change_onnx(const std::string& bytes, const std::string& other, Random& random) {
  pb::Model model;
  if (random() % 10 == 0 || !model.ParseFromString(bytes)) return change_bytes(bytes, random);
  OnnxChange change(model, random);
  do change.once(other);
  while (random() % 5 < 2);
  return model.SerializeAsString();
}

}  // namespace mica::fuzz
