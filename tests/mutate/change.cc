#include "change.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "import/onnx/onnx.pb.h"
#include "plan/file_parts.h"

namespace mica::mutate {
namespace {

constexpr int64_t kNumbers[] = {0,
                                1,
                                -1,
                                2,
                                3,
                                7,
                                127,
                                255,
                                65536,
                                1 << 20,
                                INT32_MAX,
                                INT32_MIN,
                                int64_t{1} << 32,
                                int64_t{1} << 40,
                                int64_t{1} << 62,
                                INT64_MAX,
                                INT64_MIN,
                                -2,
                                -3,
                                5};

size_t below(size_t n, Random& random) { return n ? static_cast<size_t>(random() % n) : 0; }
int64_t number(Random& random) {
  return random() % 4 ? kNumbers[below(std::size(kNumbers), random)] : static_cast<int64_t>(random());
}

// Operators whose attributes and inputs steer memory or control.
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
                                "ConstantOfShape",
                                "Transpose",
                                "TopK",
                                "RoiAlign",
                                "NonMaxSuppression",
                                "GridSample",
                                "Col2Im",
                                "Unsqueeze",
                                "Squeeze",
                                "Gemm",
                                "LRN",
                                "MaxPool",
                                "AveragePool",
                                "STFT",
                                "DFT",
                                "Upsample",
                                "Compress",
                                "EyeLike",
                                "Trilu",
                                "BitShift",
                                "Cast",
                                "QLinearMatMul",
                                "ConvInteger",
                                "Unique"};

class OnnxChange {
 public:
  OnnxChange(::mica_onnx::Model& model, Random& random) : model_(model), random_(random) {}
  void once() {
    ::mica_onnx::Graph* graph = any_graph();
    switch (below(10, random_)) {
      case 0: return change_set();
      case 1: return change_order(graph);
      case 2: return change_tensor(graph);
      case 3: return change_type(graph);
      case 4: return change_list(graph);
      case 5: return nest(graph);
      default: return change_node(graph);
    }
  }

 private:
  ::mica_onnx::Graph* any_graph() {
    ::mica_onnx::Graph* graph = model_.mutable_graph();
    for (auto& node : *graph->mutable_node())
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g() && random_() % 2) return attribute.mutable_g();
    return graph;
  }
  ::mica_onnx::Node* any_node(::mica_onnx::Graph* graph) {
    if (model_.functions_size() && random_() % 4 == 0) {
      auto* function = model_.mutable_functions(0);
      if (function->node_size()) return function->mutable_node(0);
    }
    const int n = graph->node_size();
    return n ? graph->mutable_node(static_cast<int>(below(static_cast<size_t>(n), random_))) : nullptr;
  }
  std::string any_name(::mica_onnx::Graph* graph) {
    const auto* node = any_node(graph);
    if (!node || random_() % 8 == 0) return random_() % 2 ? "" : "unknown";
    if (random_() % 2 && node->input_size())
      return node->input(static_cast<int>(below(static_cast<size_t>(node->input_size()), random_)));
    return node->output_size() ? node->output(0) : "x";
  }
  void change_set() {
    if (model_.opset_import_size())
      model_.mutable_opset_import(0)->set_version(random_() % 4 ? static_cast<int64_t>(below(30, random_))
                                                                : number(random_));
  }
  void change_order(::mica_onnx::Graph* graph) {
    const int n = graph->node_size();
    if (!n) return;
    const int a = static_cast<int>(below(static_cast<size_t>(n), random_)),
              b = static_cast<int>(below(static_cast<size_t>(n), random_));
    switch (below(3, random_)) {
      case 0: graph->mutable_node()->SwapElements(a, b); break;
      case 1: graph->mutable_node()->DeleteSubrange(a, 1); break;
      default: {
        const ::mica_onnx::Node copy = graph->node(a);
        *graph->add_node() = copy;
      }
    }
  }
  void change_tensor(::mica_onnx::Graph* graph) {
    if (!graph->initializer_size()) return;
    auto* tensor =
        graph->mutable_initializer(static_cast<int>(below(static_cast<size_t>(graph->initializer_size()), random_)));
    change_tensor(tensor);
  }
  void change_tensor(::mica_onnx::Tensor* tensor) {
    switch (below(6, random_)) {
      case 0: tensor->set_data_type(static_cast<int>(below(28, random_))); break;
      case 1: tensor->add_dims(number(random_)); break;
      case 2: tensor->clear_raw_data(); break;
      case 3:
        for (int64_t& v : *tensor->mutable_int64_data())
          if (random_() % 2) v = number(random_);
        for (float& v : *tensor->mutable_float_data())
          if (random_() % 2) v = static_cast<float>(number(random_));
        break;
      case 4: tensor->mutable_raw_data()->append(below(20, random_), '\x80'); break;
      default:
        if (tensor->dims_size())
          tensor->set_dims(static_cast<int>(below(static_cast<size_t>(tensor->dims_size()), random_)), number(random_));
    }
  }
  void change_type(::mica_onnx::Graph* graph) {
    const int n = graph->input_size();
    if (!n) return;
    auto* info = graph->mutable_input(static_cast<int>(below(static_cast<size_t>(n), random_)));
    auto* tensor = info->mutable_type()->mutable_tensor();
    if (random_() % 3 == 0) return tensor->set_elem_type(static_cast<int>(below(28, random_)));
    auto* shape = tensor->mutable_shape();
    if (random_() % 4 == 0 || !shape->dim_size()) return shape->add_dim()->set_dim_value(number(random_));
    auto* dim = shape->mutable_dim(static_cast<int>(below(static_cast<size_t>(shape->dim_size()), random_)));
    random_() % 3 ? dim->set_dim_value(number(random_)) : dim->set_dim_param("N");
  }
  void change_list(::mica_onnx::Graph* graph) {
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
  void nest(::mica_onnx::Graph* graph) {
    ::mica_onnx::Graph inner = *graph;
    if (inner.ByteSizeLong() > 4000) return;
    for (size_t i = below(random_() % 8 ? 4 : 200, random_); i > 0; --i) {
      ::mica_onnx::Graph outer;
      outer.set_name("outer");
      auto* node = outer.add_node();
      node->set_op_type("If");
      node->add_input("p");
      node->add_output("y");
      auto* branch = node->add_attribute();
      branch->set_name("then_branch");
      branch->set_type(5);
      branch->mutable_g()->Swap(&inner);
      outer.add_output()->set_name("y");
      inner.Swap(&outer);
    }
    graph->Swap(&inner);
  }
  void change_node(::mica_onnx::Graph* graph) {
    auto* node = any_node(graph);
    if (!node) return;
    const int n = node->input_size();
    switch (below(6, random_)) {
      case 0: node->set_op_type(kOps[below(std::size(kOps), random_)]); break;
      case 1:
        if (n) node->set_input(static_cast<int>(below(static_cast<size_t>(n), random_)), any_name(graph));
        break;
      case 2: node->add_input(any_name(graph)); break;
      case 3:
        if (n) node->mutable_input()->RemoveLast();
        break;
      default: change_attribute(node);
    }
  }
  void change_attribute(::mica_onnx::Node* node) {
    static const char* const kNames[] = {
        "axis", "group",    "kernel_shape", "pads",      "strides", "dilations",   "axes",           "perm",
        "to",   "keepdims", "hidden_size",  "blocksize", "mode",    "num_outputs", "output_padding", "ceil_mode"};
    const int n = node->attribute_size();
    if (!n || random_() % 4 == 0) {
      auto* added = node->add_attribute();
      added->set_name(kNames[below(std::size(kNames), random_)]);
      added->set_type(random_() % 2 ? 2 : 7);
      added->set_i(number(random_));
      for (size_t i = below(5, random_); i > 0; --i) added->add_ints(number(random_));
      return;
    }
    auto* attribute = node->mutable_attribute(static_cast<int>(below(static_cast<size_t>(n), random_)));
    switch (below(5, random_)) {
      case 0: attribute->set_type(static_cast<int>(below(15, random_))); break;
      case 1: attribute->set_name(kNames[below(std::size(kNames), random_)]); break;
      case 2: attribute->add_ints(number(random_)); break;
      default:
        if (attribute->has_t())
          change_tensor(attribute->mutable_t());
        else if (attribute->has_i())
          attribute->set_i(number(random_));
        else if (attribute->ints_size())
          attribute->set_ints(static_cast<int>(below(static_cast<size_t>(attribute->ints_size()), random_)),
                              number(random_));
        else if (attribute->has_s())
          attribute->set_s("cubic");
    }
  }
  ::mica_onnx::Model& model_;
  Random& random_;
};

template <class T>
void put(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <class T>
T get(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void repair(std::string& bytes) {
  if (bytes.size() < kHeaderBytes + kSectionEntryBytes) return;
  const Bytes view = std::as_bytes(std::span(bytes.data(), bytes.size()));
  put<uint64_t>(bytes, 24, bytes.size());
  const size_t sections =
      std::min<size_t>(get<uint32_t>(bytes, 12), (bytes.size() - kHeaderBytes) / kSectionEntryBytes);
  for (size_t i = 0; i < sections; ++i) {
    const size_t entry = kHeaderBytes + i * kSectionEntryBytes;
    const uint64_t offset = get<uint64_t>(bytes, entry + 8), length = get<uint64_t>(bytes, entry + 16);
    if (offset <= bytes.size() && length <= bytes.size() - offset)
      put(bytes, entry + 32, crc32c(view.subspan(offset, length)));
  }
  put(bytes, 40, crc32c(view.subspan(kHeaderBytes, sections * kSectionEntryBytes)));
  put(bytes, kHeaderSummed, crc32c(view.first(kHeaderSummed)));
}

}  // namespace

std::string change_bytes(std::string bytes, Random& random) {
  for (size_t i = 1 + below(6, random); i > 0 && !bytes.empty(); --i) {
    const size_t at = below(bytes.size(), random);
    switch (below(6, random)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8, random)); break;
      case 1: bytes[at] = static_cast<char>(random()); break;
      case 2: bytes.insert(at, 1 + below(9, random), static_cast<char>(random())); break;
      case 3: bytes.erase(at, 1 + below(9, random)); break;
      case 4:
        if (random() % 4 == 0) bytes.resize(at);
        break;
      default:  // the largest numbers of both formats
        for (size_t k = at; k < std::min(at + 5, bytes.size()); ++k) bytes[k] = k + 1 == at + 5 ? '\x0f' : '\xff';
    }
  }
  return bytes;
}

std::string change_onnx(const std::string& bytes, Random& random) {
  ::mica_onnx::Model model;
  if (random() % 5 == 0 || !model.ParseFromString(bytes)) return change_bytes(bytes, random);
  OnnxChange change(model, random);
  for (size_t i = 1 + below(4, random); i > 0; --i) change.once();
  return model.SerializeAsString();
}

std::string change_mica(std::string bytes, Random& random) {
  if (random() % 5 == 0) {
    bytes = change_bytes(std::move(bytes), random);
  } else {
    // In place, weights mostly left alone: they are the bulk and mean nothing to the reader.
    const size_t part = random() % 4 ? std::min<size_t>(bytes.size(), 6000) : bytes.size();
    for (size_t i = 1 + below(4, random); i > 0; --i) {
      const size_t at = kHeaderBytes + below(part > kHeaderBytes + 8 ? part - kHeaderBytes - 8 : 1, random);
      if (at + 8 > bytes.size()) continue;
      if (random() % 2)
        put(bytes, at, static_cast<char>(number(random)));
      else if (random() % 2)
        put(bytes, at & ~size_t{3}, static_cast<uint32_t>(number(random)));
      else
        put(bytes, at & ~size_t{7}, number(random));
    }
  }
  if (random() % 10) repair(bytes);
  return bytes;
}

}  // namespace mica::mutate
