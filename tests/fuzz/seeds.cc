#include "seeds.h"

#include <cstdlib>

#include "import/onnx/model_maker.h"

namespace mica::fuzz {
namespace {

using onnx::ModelMaker;

void ints(::mica_onnx::Node* node, const std::string& name, std::initializer_list<int64_t> values) {
  auto* attribute = ModelMaker::attribute(node, name, 7);
  for (int64_t v : values) attribute->add_ints(v);
}
void numbers(ModelMaker& m, const std::string& name, std::initializer_list<int64_t> values) {
  auto* tensor = m.initializer(name, 7, {static_cast<int64_t>(values.size())});
  for (int64_t v : values) tensor->add_int64_data(v);
}
void weights(ModelMaker& m, const std::string& name, std::initializer_list<int64_t> dims) {
  auto* tensor = m.initializer(name, 1, dims);
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  for (int64_t i = 0; i < count; ++i) tensor->add_float_data(static_cast<float>(i % 7 - 3) / 4);
}

ModelMaker image_network() {
  ModelMaker m;
  m.input("x", {"N", "3", "8", "8"});
  weights(m, "w", {4, 3, 3, 3});
  weights(m, "b", {4});
  weights(m, "d", {4, 1, 3, 3});
  auto* conv = m.node("Conv", {"x", "w", "b"}, {"c"});
  ints(conv, "pads", {1, 1, 1, 1});
  ints(conv, "strides", {1, 1});
  m.node("Relu", {"c"}, {"r"});
  auto* depthwise = m.node("Conv", {"r", "d"}, {"e"});
  ModelMaker::set_int(depthwise, "group", 4);
  ints(depthwise, "dilations", {1, 2});
  auto* pool = m.node("MaxPool", {"e"}, {"p"});
  ints(pool, "kernel_shape", {2, 2});
  auto* mean = m.node("AveragePool", {"e"}, {"q"});
  ints(mean, "kernel_shape", {2, 2});
  m.node("Add", {"p", "q"}, {"s"});
  auto* turned = m.node("ConvTranspose", {"s", "w"}, {"t"});
  ints(turned, "strides", {2, 2});
  m.node("GlobalAveragePool", {"t"}, {"y"});
  m.output("y");
  return m;
}

ModelMaker dense_network() {
  ModelMaker m;
  m.input("x", {"N", "6"});
  weights(m, "w", {5, 6});
  weights(m, "b", {5});
  weights(m, "v", {5, 4});
  auto* gemm = m.node("Gemm", {"x", "w", "b"}, {"g"});
  ModelMaker::set_int(gemm, "transB", 1);
  m.node("Sigmoid", {"g"}, {"s"});
  m.node("MatMul", {"s", "v"}, {"h"});
  auto* soft = m.node("Softmax", {"h"}, {"y"});
  ModelMaker::set_int(soft, "axis", -1);
  m.output("y");
  return m;
}

ModelMaker shapes_network() {
  ModelMaker m;
  m.input("x", {"2", "3", "4"});
  numbers(m, "to", {4, -1});
  numbers(m, "times", {2, 3});
  numbers(m, "large", {2, 8, 18});
  numbers(m, "pads", {1, 0, 1, 2});
  numbers(m, "from", {0, 1});
  numbers(m, "end", {3, 9});
  numbers(m, "axes", {0, 1});
  numbers(m, "at", {1, 0, -1});
  m.node("Reshape", {"x", "to"}, {"a"});
  m.node("Tile", {"a", "times"}, {"b"});
  m.node("Expand", {"b", "large"}, {"c"});
  m.node("Pad", {"b", "pads"}, {"d"});
  m.node("Slice", {"d", "from", "end", "axes"}, {"e"});
  auto* gather = m.node("Gather", {"e", "at"}, {"f"});
  ModelMaker::set_int(gather, "axis", 1);
  auto* transposed = m.node("Transpose", {"c"}, {"g"});
  ints(transposed, "perm", {2, 0, 1});
  m.node("Shape", {"g"}, {"h"});
  m.node("ConstantOfShape", {"h"}, {"i"});
  auto* concat = m.node("Concat", {"f", "f"}, {"j"});
  ModelMaker::set_int(concat, "axis", 0);
  auto* split = m.node("Split", {"j"}, {"k", "l"});
  ModelMaker::set_int(split, "axis", 0);
  m.node("NonZero", {"l"}, {"z"});
  for (const char* name : {"i", "k", "z"}) m.output(name);
  return m;
}

ModelMaker resize_network() {
  ModelMaker m;
  m.input("x", {"1", "2", "5", "5"});
  auto* scales = m.initializer("scales", 1, {4});
  for (float s : {1.0f, 1.0f, 2.0f, 1.5f}) scales->add_float_data(s);
  auto* resize = m.node("Resize", {"x", "", "scales"}, {"r"});
  ModelMaker::attribute(resize, "mode", 3)->set_s("linear");
  auto* last = m.node("DepthToSpace", {"r2"}, {"y"});
  ModelMaker::set_int(last, "blocksize", 2);
  auto* first = m.node("SpaceToDepth", {"x4"}, {"r2"});
  ModelMaker::set_int(first, "blocksize", 2);
  numbers(m, "four", {1, 2, 4, 4});
  m.node("Resize", {"r", "", "", "four"}, {"x4"});
  m.output("y");
  return m;
}

ModelMaker branches() {
  ModelMaker m;
  m.input("p", {}, 9);
  m.input("x", {"3"});
  auto* choice = m.node("If", {"p"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* graph = ModelMaker::attribute(choice, name, 5)->mutable_g();
    graph->set_name(name);
    ModelMaker::add_node(graph, name[0] == 't' ? "Neg" : "Abs", {"x"}, {"z"});
    graph->add_output()->set_name("z");
  }
  m.output("y");
  return m;
}

ModelMaker loop() {
  ModelMaker m;
  m.input("x", {"3"});
  auto* trips = m.initializer("trips", 7, {});
  trips->add_int64_data(3);
  auto* go = m.initializer("go", 9, {});
  go->add_int32_data(1);
  auto* node = m.node("Loop", {"trips", "go", "x"}, {"y", "all"});
  auto* body = ModelMaker::attribute(node, "body", 5)->mutable_g();
  body->set_name("body");
  ModelMaker::set_type(body->add_input(), "i", 7, {});
  ModelMaker::set_type(body->add_input(), "c", 9, {});
  ModelMaker::set_type(body->add_input(), "v", 1, {"3"});
  ModelMaker::add_node(body, "Identity", {"c"}, {"c2"});
  ModelMaker::add_node(body, "Add", {"v", "v"}, {"v2"});
  for (const char* name : {"c2", "v2", "v"}) body->add_output()->set_name(name);
  m.output("y");
  m.output("all");
  return m;
}

ModelMaker quantized() {
  ModelMaker m;
  m.input("x", {"1", "2", "6", "6"});
  auto* scale = m.initializer("s", 1, {});
  scale->add_float_data(0.05f);
  auto* zero = m.initializer("z", 2, {});
  zero->add_int32_data(128);
  auto* kernel = m.initializer("w", 2, {3, 2, 3, 3});
  kernel->set_raw_data(std::string(54, '\x7e'));
  m.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  m.node("QLinearConv", {"q", "s", "z", "w", "s", "z", "s", "z"}, {"c"});
  m.node("DequantizeLinear", {"c", "s", "z"}, {"y"});
  m.node("DynamicQuantizeLinear", {"y"}, {"a", "as", "az"});
  m.output("y");
  m.output("a");
  return m;
}

ModelMaker strings_and_sequences() {
  ModelMaker m;
  m.input("x", {"4", "2"});
  auto* words = m.initializer("words", 8, {2});
  words->add_string_data("one");
  words->add_string_data("two");
  m.node("StringConcat", {"words", "words"}, {"both"});
  auto* at = m.initializer("at", 7, {});
  at->add_int64_data(1);
  m.node("SplitToSequence", {"x"}, {"parts"});
  m.node("SequenceAt", {"parts", "at"}, {"part"});
  m.node("SequenceInsert", {"parts", "part"}, {"more"});
  auto* joined = m.node("ConcatFromSequence", {"more"}, {"y"});
  ModelMaker::set_int(joined, "axis", 0);
  m.model.mutable_opset_import(0)->set_version(20);
  m.output("both");
  m.output("y");
  return m;
}

ModelMaker functions() {
  ModelMaker m;
  m.input("x", {"2", "3"});
  auto* own = m.model.add_opset_import();
  own->set_domain("own");
  own->set_version(1);
  m.node("Twice", {"x"}, {"y"})->set_domain("own");
  auto* function = m.model.add_functions();
  function->set_name("Twice");
  function->set_domain("own");
  function->add_input("a");
  function->add_output("b");
  auto* set = function->add_opset_import();
  set->set_domain("");
  set->set_version(17);
  ModelMaker::add_node(function, "Add", {"a", "a"}, {"b"});
  m.output("y");
  return m;
}

ModelMaker recurrent() {
  ModelMaker m;
  m.input("x", {"4", "1", "3"});
  weights(m, "w", {1, 8, 3});
  weights(m, "r", {1, 8, 2});
  auto* lstm = m.node("LSTM", {"x", "w", "r"}, {"y", "h", "c"});
  ModelMaker::set_int(lstm, "hidden_size", 2);
  numbers(m, "k", {2});
  m.node("TopK", {"y", "k"}, {"top", "where"});
  auto* sum = m.node("CumSum", {"top", "axis"}, {"s"});
  (void)sum;
  m.initializer("axis", 7, {})->add_int64_data(0);
  weights(m, "g", {2});
  m.node("LayerNormalization", {"top", "g"}, {"n"});
  for (const char* name : {"s", "n", "where"}) m.output(name);
  return m;
}

}  // namespace

ImportOptions import_options(const std::string& onnx) {
  constexpr std::string_view kState = "fuzz.state.", kBound = "fuzz.bound.";
  ImportOptions options;
  ::mica_onnx::Model model;
  if (onnx.find("fuzz.") == std::string::npos || !model.ParseFromString(onnx)) return options;
  for (const auto& entry : model.metadata_props()) {
    const std::string& key = entry.key();
    if (key.starts_with(kState)) options.states[key.substr(kState.size())] = entry.value();
    if (key.starts_with(kBound))
      options.bounds[key.substr(kBound.size())] = std::strtoll(entry.value().c_str(), nullptr, 10);
  }
  return options;
}

std::vector<Seed> made_models() {
  return {{"image", image_network().bytes()},   {"dense", dense_network().bytes()},
          {"shapes", shapes_network().bytes()}, {"resize", resize_network().bytes()},
          {"branches", branches().bytes()},     {"loop", loop().bytes()},
          {"quantized", quantized().bytes()},   {"strings", strings_and_sequences().bytes()},
          {"functions", functions().bytes()},   {"recurrent", recurrent().bytes()}};
}

}  // namespace mica::fuzz
