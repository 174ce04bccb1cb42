#include "import/onnx/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/import.h"
#include "import/onnx/limits.h"
#include "import/onnx/model_maker.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace mica::onnx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string why(const Result<Graph>& result) {
  return result.ok() ? "" : std::string(result.error().what()) + " | " + std::string(result.error().hint());
}
std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes) names.emplace_back(node->op->name);
  return names;
}

TEST(ImportOnnx, NodesInAnyOrder) {
  ModelMaker m;
  m.input("x", {"N", "4"});
  m.node("Neg", {"b"}, {"y"});
  m.node("Abs", {"a"}, {"b"});
  m.node("Relu", {"x"}, {"a"});
  m.node("Foo", {"x"}, {"nobody wants this"});
  m.output("y");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_EQ(ops_of(*graph), (std::vector<std::string>{"relu", "abs", "neg"}));
  EXPECT_EQ(graph->outputs[0]->name, "y");
  EXPECT_EQ(graph->nodes[0]->name, "n_a");
  EXPECT_TRUE(verify(*graph, "import").ok());
}

TEST(ImportOnnx, NormalisationsThatSaveTheirStatistics) {
  // Before version 14 five outputs mean training: running mean and variance, then the batch's own.
  ModelMaker m(11);
  m.input("x", {"2", "3", "4"});
  for (const char* name : {"scale", "bias", "mean", "variance"}) m.input(name, {"3"});
  m.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y", "m", "v", "own mean", "own variance"});
  m.output("y");
  m.output("own variance");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_EQ(ops_of(*graph), (std::vector<std::string>{"batch_norm", "batch_norm"}));
  EXPECT_TRUE(verify(*graph, "import").ok());
  EXPECT_EQ(graph->outputs[1]->producer->outputs[2], graph->outputs[1]);
}

// As caffe2 and old exporters wrote it: parameters for every element, not for every channel.
TEST(ImportOnnx, NormalisationOfEachElement) {
  ModelMaker m(7);
  m.input("x", {"2", "3", "4"});
  for (const char* name : {"scale", "bias", "mean", "variance"}) m.input(name, {"3", "4"});
  m.set_int(m.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"}), "spatial", 0);
  m.output("y");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_EQ(ops_of(*graph), (std::vector<std::string>{"add", "sqrt", "div", "sub", "mul", "add"}));
  EXPECT_TRUE(verify(*graph, "import").ok());
}

TEST(ImportOnnx, DimensionsGetNames) {
  ModelMaker m;
  m.input("x", {"N", "", "-1", "3"});
  m.input("z", {"N", "a`b", "past + 1"});
  m.output("x"), m.output("z");
  const auto graph = m.import({.bounds = {{"past", 64}}});
  ASSERT_TRUE(graph.ok()) << why(graph);
  const std::string text = to_text(*graph);
  EXPECT_THAT(text, HasSubstr("f32[N,x_1,x_2,3]"));
  EXPECT_THAT(text, HasSubstr("[N,a_b,past + 1]"));
  EXPECT_THAT(text, HasSubstr("symbol past bounded 64"));
}

TEST(ImportOnnx, DimensionsWithoutANameAreNotOne) {
  ModelMaker m;
  m.input("x", {"?", "?", "None", "None"});
  m.input("z", {"?", "N", "N"});
  m.output("x"), m.output("z");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << why(graph);
  const std::string text = to_text(*graph);
  EXPECT_THAT(text, HasSubstr("f32[x_0,x_1,x_2,x_3]"));
  EXPECT_THAT(text, HasSubstr("f32[z_0,N,N]"));
  EXPECT_TRUE(m.import({.shapes = {{"x", {1, 3, 4, 5}}}}).ok()) << "sizes that differ are no contradiction";
}

TEST(ImportOnnx, SizesThatAPersonGives) {
  ModelMaker m;
  m.input("x", {"N", "3"});
  m.input("z", {"N", "M"});
  m.output("x"), m.output("z");
  const auto graph = m.import({.shapes = {{"x", {5, -1}}}});
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_EQ(graph->inputs[0]->type.shape, (Shape{5, 3}));
  EXPECT_TRUE(graph->inputs[1]->type.shape[0].is(5));
  EXPECT_THAT(why(m.import({.shapes = {{"x", {5}}}})), HasSubstr("1 sizes"));
  EXPECT_THAT(why(m.import({.shapes = {{"x", {5, 3}}, {"z", {6, 1}}}})), HasSubstr("sizes 5 and 6"));
  EXPECT_THAT(why(m.import({.shapes = {{"w", {5}}}})), HasSubstr("no input `w`"));
  EXPECT_THAT(why(m.import({.bounds = {{"K", 5}}})), HasSubstr("no input has a dimension `K`"));
  EXPECT_THAT(why(m.import({.bounds = {{"N", 0}}})), HasSubstr("not positive"));
}

TEST(ImportOnnx, InitializersThatAreInputsAreConstants) {
  ModelMaker m;
  m.input("x", {"2"});
  m.input("w", {"2"});
  auto* w = m.initializer("w", 1, {2});
  w->add_float_data(1), w->add_float_data(2);
  m.node("Add", {"x", "w"}, {"y"});
  m.output("y");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_EQ(graph->input_names, (std::vector<std::string>{"x"}));
  EXPECT_TRUE(graph->nodes[0]->inputs[1]->is_constant());
}

TEST(ImportOnnx, EveryProblemIsToldOnce) {
  ModelMaker m(11);
  m.input("x", {"2"});
  m.node("Reluu", {"x"}, {"a"});
  m.node("Reluu", {"x"}, {"b"});
  m.node("Add", {"a", "b"}, {"c"});  // follows from the others
  m.node("Grumble", {"c"}, {"d"})->set_domain("com.example");
  ModelMaker::set_int(m.node("Abs", {"x"}, {"e"}), "axi", 1);
  m.node("Sum", {"d", "e"}, {"y"});
  m.output("y");
  const auto graph = m.import();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code(), Code::kUnsupportedModel);
  const std::string text(graph.error().what());
  EXPECT_THAT(text, HasSubstr("4 nodes cannot be imported"));
  EXPECT_THAT(text, HasSubstr("`Reluu` (ai.onnx version 11), 2 nodes: no such operator\n    hint: the nearest known "
                              "name is `Relu`\n    nodes: `n_a`, `n_b`"));
  EXPECT_THAT(text, HasSubstr("`Grumble` (com.example version 1), 1 node"));
  EXPECT_THAT(text, HasSubstr("no attribute `axi`"));
  EXPECT_THAT(text, Not(HasSubstr("`Add`")));
}

TEST(ImportOnnx, RequestedOutputsLeaveTheRestOut) {
  ModelMaker m;
  m.input("x", {"2"});
  m.node("Relu", {"x"}, {"a"});
  m.node("Foo", {"a"}, {"y"});
  m.output("y");
  EXPECT_FALSE(m.import().ok());
  const auto graph = m.import({.outputs = {"a"}});
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_EQ(graph->output_names, (std::vector<std::string>{"a"}));
  EXPECT_THAT(why(m.import({.outputs = {"aa"}})), HasSubstr("`aa`"));
}

TEST(ImportOnnx, States) {
  ModelMaker m;
  m.input("h", {"2"});
  m.node("Relu", {"h"}, {"n"});
  m.output("n");
  const auto graph = m.import({.states = {{"n", "h"}}});
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_EQ(graph->states.size(), 1u);
  EXPECT_THAT(why(m.import({.states = {{"n", "g"}}})), HasSubstr("no input `g`"));
  EXPECT_THAT(why(m.import({.states = {{"m", "h"}}})), HasSubstr("no output `m`"));
}

TEST(ImportOnnx, FunctionsAreInlinedWithTheirAttributes) {
  ModelMaker m;
  m.input("x", {"2"});
  auto* f = m.model.add_functions();
  f->set_name("Leaky"), f->set_domain("local");
  f->add_input("in"), f->add_input("unused"), f->add_output("out"), f->add_attribute("slope");
  auto* set = f->add_opset_import();
  set->set_domain(""), set->set_version(17);
  auto* inner = ModelMaker::add_node(f, "LeakyRelu", {"in"}, {"mid"});
  ModelMaker::attribute(inner, "alpha", 1)->set_ref_attr_name("slope");
  ModelMaker::add_node(f, "Neg", {"mid"}, {"out"});
  auto* call = m.node("Leaky", {"x"}, {"a"});
  call->set_domain("local");
  ModelMaker::attribute(call, "slope", 1)->set_f(0.25f);
  m.node("Leaky", {"a"}, {"y"})->set_domain("local");
  m.output("y");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_EQ(ops_of(*graph), (std::vector<std::string>{"leaky_relu", "neg", "leaky_relu", "neg"}));
  EXPECT_THAT(to_text(*graph), HasSubstr("0.25"));
  EXPECT_EQ(graph->nodes[0]->name, "n_a/n_mid");
}

TEST(ImportOnnx, FunctionsThatCallThemselvesEnd) {
  ModelMaker m;
  m.input("x", {"2"});
  for (int i = 0; i < 40; ++i) {
    auto* f = m.model.add_functions();
    f->set_name("f" + std::to_string(i)), f->set_domain("local");
    f->add_input("in"), f->add_output("out");
    for (int k = 0; k < 2; ++k)
      ModelMaker::add_node(f, "f" + std::to_string(i + 1), {k ? "mid" : "in"}, {k ? "out" : "mid"})
          ->set_domain("local");
  }
  auto* last = m.model.mutable_functions(39);
  for (auto& node : *last->mutable_node()) node.set_op_type("f39");
  m.node("f39", {"x"}, {"y"})->set_domain("local");
  m.output("y");
  EXPECT_EQ(m.import().error().code(), Code::kLimit);
}

::mica_onnx::Node* add_if(ModelMaker& m) {
  auto* node = m.node("If", {"c"}, {"y"});
  for (const char* key : {"then_branch", "else_branch"}) {
    auto* g = ModelMaker::attribute(node, key, 5)->mutable_g();
    g->set_name(key);
    ModelMaker::add_node(g, key[0] == 't' ? "Add" : "Mul", {"a", "w"}, {"r"});
    g->add_output()->set_name("r");
  }
  return node;
}

TEST(ImportOnnx, RegionsAreClosed) {
  ModelMaker m;
  m.input("c", {}, 9);
  m.input("x", {"2"});
  add_if(m);  // stands before what it uses
  m.node("Relu", {"x"}, {"a"});
  auto* w = m.initializer("w", 1, {2});
  w->add_float_data(1), w->add_float_data(2);
  m.output("y");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << why(graph);
  ASSERT_EQ(graph->nodes.size(), 2u);
  const Node& node = *graph->nodes[1];
  EXPECT_EQ(node.inputs.size(), 2u);  // the condition and `a`; the constant is the regions' own
  EXPECT_EQ(node.regions[0]->inputs.size(), 1u);
  EXPECT_EQ(node.regions[0]->nodes[0]->inputs[1]->constant, node.regions[1]->nodes[0]->inputs[1]->constant);
  EXPECT_TRUE(verify(*graph, "import").ok());
  EXPECT_EQ(graph->outputs[0]->type, Type::tensor(DType::kF32, {2}));
}

// Sizes that are given fit one branch only, and which is taken is known at run time.
TEST(ImportOnnx, BranchThatDoesNotFit) {
  ModelMaker m;
  m.input("c", {}, 9);
  m.input("x", {"2"});
  auto* node = add_if(m);
  m.node("Relu", {"x"}, {"a"});
  auto* w = m.initializer("w", 1, {2});
  w->add_float_data(1), w->add_float_data(2);
  auto* odd = m.initializer("odd", 1, {3});
  for (int i = 0; i < 3; ++i) odd->add_float_data(1);
  auto* branch = node->mutable_attribute(1)->mutable_g();
  branch->mutable_node(0)->set_input(1, "odd");
  ModelMaker::add_node(branch, "Neg", {"r"}, {"s"});
  branch->mutable_output(0)->set_name("s");
  m.output("y");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_TRUE(verify(*graph, "import").ok());
  EXPECT_EQ(graph->nodes[1]->regions[1]->nodes[0]->op->name, "misfit");
  EXPECT_EQ(graph->outputs[0]->type, Type::tensor(DType::kF32, {2}));
  // A branch with an unknown operator is a problem all the same, and so are two that do not fit.
  branch->mutable_node(1)->set_op_type("Foo");
  EXPECT_FALSE(m.import().ok());
  branch->mutable_node(1)->set_op_type("Neg");
  node->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(1, "odd");
  const auto neither = m.import();
  ASSERT_FALSE(neither.ok());
  EXPECT_NE(why(neither).find("neither branch fits"), std::string::npos) << why(neither);
}

// The exception of the reader of attributes passes through the operator's own list of fields.
TEST(ImportOnnx, AttributeOfAnotherKind) {
  ModelMaker m;
  m.input("x", {"4"});
  auto* node = m.node("SplitToSequence", {"x"}, {"s"});
  ModelMaker::attribute(node, "axis", 3)->set_s("first");
  m.node("SequenceLength", {"s"}, {"y"});
  m.output("y");
  const auto graph = m.import();
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(why(graph).find("axis"), std::string::npos) << why(graph);
}

TEST(ImportOnnx, ProblemsInsideRegionsAreFound) {
  ModelMaker m;
  m.input("c", {}, 9);
  m.input("x", {"2"});
  auto* node = add_if(m);
  node->mutable_attribute(1)->mutable_g()->mutable_node(0)->set_op_type("Foo");
  m.node("Bar", {"x"}, {"a"});
  m.node("Relu", {"x"}, {"w"});
  m.output("y");
  const std::string text = why(m.import());
  EXPECT_THAT(text, HasSubstr("`Foo`"));
  EXPECT_THAT(text, HasSubstr("`Bar`"));
  EXPECT_THAT(text, HasSubstr("2 nodes"));
}

TEST(ImportOnnx, ContradictionsAreErrors) {
  ModelMaker circle;
  circle.input("x", {"2"});
  circle.node("Add", {"x", "b"}, {"a"});
  circle.node("Relu", {"a"}, {"b"});
  circle.output("b");
  EXPECT_THAT(why(circle.import()), HasSubstr("circle"));

  ModelMaker twice;
  twice.input("x", {"2"});
  twice.node("Relu", {"x"}, {"a"}), twice.node("Neg", {"x"}, {"a"});
  twice.output("a");
  EXPECT_THAT(why(twice.import()), HasSubstr("two nodes make"));

  ModelMaker missing;
  missing.input("image", {"2"});
  missing.node("Relu", {"imagee"}, {"a"});
  missing.output("a");
  EXPECT_THAT(why(missing.import()), HasSubstr("nothing makes the value `imagee`"));
  EXPECT_THAT(why(missing.import()), HasSubstr("`image`"));

  ModelMaker none;
  none.output("y");
  EXPECT_THAT(why(none.import()), HasSubstr("nothing makes the output `y`"));
  EXPECT_THAT(why(ModelMaker().import()), HasSubstr("no outputs"));
}

TEST(ImportOnnx, StrictComparesDeclarations) {
  ModelMaker m;
  m.input("x", {"2"});
  m.node("Relu", {"x"}, {"y"});
  ModelMaker::set_type(m.graph()->add_output(), "y", 1, {"3"});
  EXPECT_TRUE(m.import().ok());
  EXPECT_THAT(why(m.import({.strict = true})), HasSubstr("f32[2], but declared as f32[3]"));
}

TEST(ImportOnnx, ReleaseWhoseDefinitionsAreMeant) {
  ModelMaker m(23);
  for (const char* name : {"q", "k", "v"}) m.input(name, {"1", "1", "2", "4"});
  m.node("Attention", {"q", "k", "v"}, {"y"});
  m.output("y");
  const auto import = [&](const std::string& release) {
    const Graph graph = m.import({.onnx_release = release}).take();
    return to_text(graph).find("mask_first") != std::string::npos;
  };
  EXPECT_TRUE(import("1.21"));
  EXPECT_TRUE(import("1.18"));
  EXPECT_FALSE(import("1.22"));
  EXPECT_FALSE(import(""));
  for (const char* wrong : {"1", "1.", "2.1", "1.21.0", "1.x", "1.-3", "1.99999999999", "21"})
    EXPECT_THAT(why(m.import({.onnx_release = wrong})), HasSubstr("no release of ONNX")) << wrong;
}

TEST(ImportOnnx, MetadataIsKept) {
  ModelMaker m;
  m.input("x", {"2"});
  m.output("x");
  m.model.set_producer_name("maker");
  m.model.set_model_version(3);
  m.model.set_doc_string("what it is for");
  auto* entry = m.model.add_metadata_props();
  entry->set_key("labels"), entry->set_value("cat,dog");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << why(graph);
  EXPECT_EQ(graph->metadata.at("labels"), "cat,dog");
  EXPECT_EQ(graph->metadata.at("producer"), "maker");
  EXPECT_EQ(graph->metadata.at("onnx.model_version"), "3");
  EXPECT_EQ(graph->metadata.at("onnx.description"), "what it is for");
  EXPECT_FALSE(graph->metadata.contains("onnx.domain"));
}

TEST(ImportOnnx, Limits) {
  ModelMaker deep;
  auto* g = deep.graph();
  for (int i = 0; i < kMaxNesting + 1; ++i)
    g = ModelMaker::attribute(ModelMaker::add_node(g, "If", {"c"}, {"y"}), "then_branch", 5)->mutable_g();
  deep.output("y");
  EXPECT_EQ(deep.import().error().code(), Code::kLimit);
  ModelMaker name;
  name.input(std::string(kMaxNameBytes + 1, 'x'), {"2"});
  name.output("y");
  EXPECT_EQ(name.import().error().code(), Code::kLimit);
}

// Every prefix and many changed bytes of a model: an answer or an error, never a crash.
TEST(ImportOnnx, DamagedBytes) {
  ModelMaker m;
  m.input("c", {}, 9);
  m.input("x", {"N"});
  add_if(m);
  m.node("Relu", {"x"}, {"a"});
  auto* w = m.initializer("w", 1, {1});
  w->set_raw_data("1234");
  m.output("y");
  const std::string whole = m.bytes();
  const auto read = [](std::string_view text) {
    return import_model({.path = {}, .bytes = std::as_bytes(std::span(text.data(), text.size())), .folder = {}}).ok();
  };
  EXPECT_TRUE(read(whole));
  for (size_t i = 0; i < whole.size(); ++i) read(std::string_view(whole).substr(0, i));
  for (size_t i = 0; i < whole.size(); ++i)
    for (unsigned change : {0x01u, 0x80u, 0xffu, 0x08u}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ change);
      read(damaged);
    }
}

TEST(ImportModel, TellsFormatsApart) {
  const auto format = [](std::string_view text) {
    return detect_format(std::as_bytes(std::span(text.data(), text.size())));
  };
  ModelMaker m;
  m.input("x", {"2"});
  m.output("x");
  EXPECT_EQ(format(m.bytes()), SourceFormat::kOnnx);
  EXPECT_EQ(format("graph \"g\"\nend\n"), SourceFormat::kText);
  EXPECT_EQ(format(""), SourceFormat::kUnknown);
  EXPECT_EQ(format("\x0a\x03one"), SourceFormat::kUnknown);
  EXPECT_EQ(format("<html>not a model</html>"), SourceFormat::kUnknown);
  EXPECT_EQ(import_model({.path = "/nowhere/at all.onnx"}).error().code(), Code::kIo);
}

}  // namespace
}  // namespace mica::onnx
