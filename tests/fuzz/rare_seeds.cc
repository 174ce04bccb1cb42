// Models with what few models have: states, bounded dimensions, deep control flow, data-dependent shapes, external and
// sparse data, functions with attributes, elements of four bits.
#include <fstream>

#include "import/onnx/model_maker.h"
#include "seeds.h"

namespace mica::fuzz {
namespace {

namespace pb = ::mica_onnx;
using onnx::ModelMaker;

constexpr int kFloatType = 1, kIntsType = 7, kGraphType = 5, kStringType = 3;
constexpr int kF32 = 1, kU8 = 2, kI64 = 7, kString = 8, kBool = 9, kU4 = 21;

void ints(pb::Node* node, const std::string& name, std::initializer_list<int64_t> values) {
  auto* attribute = ModelMaker::attribute(node, name, kIntsType);
  for (int64_t v : values) attribute->add_ints(v);
}
void numbers(ModelMaker& m, const std::string& name, std::initializer_list<int64_t> values) {
  auto* tensor = m.initializer(name, kI64, {static_cast<int64_t>(values.size())});
  for (int64_t v : values) tensor->add_int64_data(v);
}
void number(ModelMaker& m, const std::string& name, int64_t value) {
  m.initializer(name, kI64, {})->add_int64_data(value);
}
void weights(ModelMaker& m, const std::string& name, std::initializer_list<int64_t> dims) {
  auto* tensor = m.initializer(name, kF32, dims);
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  for (int64_t i = 0; i < count; ++i) tensor->add_float_data(static_cast<float>(i % 5 - 2) / 2);
}
void ask(ModelMaker& m, const std::string& key, const std::string& value) {
  auto* entry = m.model.add_metadata_props();
  entry->set_key(key);
  entry->set_value(value);
}
pb::Graph* body(pb::Node* node, const std::string& name) {
  auto* graph = ModelMaker::attribute(node, name, kGraphType)->mutable_g();
  graph->set_name(name);
  return graph;
}

ModelMaker with_states() {
  ModelMaker m;
  m.input("x", {"1", "4"});
  m.input("h", {"1", "4"});
  m.input("count", {"1"}, kI64);
  weights(m, "w", {4, 4});
  numbers(m, "one", {1});
  m.node("MatMul", {"h", "w"}, {"p"});
  m.node("Add", {"p", "x"}, {"s"});
  m.node("Tanh", {"s"}, {"h2"});
  m.node("Add", {"count", "one"}, {"count2"});
  for (const char* name : {"s", "h2", "count2"}) m.output(name);
  ask(m, "fuzz.state.h2", "h");
  ask(m, "fuzz.state.count2", "count");
  return m;
}

// A batch and a length with largest values, and attention over a cache of that length.
ModelMaker with_bounds() {
  ModelMaker m;
  m.input("q", {"N", "1", "8"});
  m.input("cache", {"N", "L", "8"});
  m.input("new", {"N", "1", "8"});
  auto* grown = m.node("Concat", {"cache", "new"}, {"keys"});
  ModelMaker::set_int(grown, "axis", 1);
  ints(m.node("Transpose", {"keys"}, {"turned"}), "perm", {0, 2, 1});
  m.node("MatMul", {"q", "turned"}, {"scores"});
  ModelMaker::set_int(m.node("Softmax", {"scores"}, {"parts"}), "axis", -1);
  m.node("MatMul", {"parts", "keys"}, {"y"});
  m.node("Shape", {"keys"}, {"sizes"});
  number(m, "first", 0);
  m.node("Gather", {"sizes", "first"}, {"batch"});
  numbers(m, "zero", {0});
  m.node("Unsqueeze", {"batch", "zero"}, {"batches"});
  numbers(m, "rest", {-1, 2, 4});
  ModelMaker::set_int(m.node("Concat", {"batches", "rest"}, {"to"}), "axis", 0);
  m.node("Reshape", {"y", "to"}, {"z"});
  m.output("z");
  m.output("keys");
  ask(m, "fuzz.bound.N", "4");
  ask(m, "fuzz.bound.L", "6");
  return m;
}

ModelMaker scan() {
  ModelMaker m;
  m.input("s0", {"2"});
  m.input("xs", {"5", "2"});
  weights(m, "w", {2, 2});
  auto* node = m.node("Scan", {"s0", "xs"}, {"last", "all"});
  ModelMaker::set_int(node, "num_scan_inputs", 1);
  ints(node, "scan_input_directions", {1});
  auto* graph = body(node, "body");
  ModelMaker::set_type(graph->add_input(), "s", kF32, {"2"});
  ModelMaker::set_type(graph->add_input(), "x", kF32, {"2"});
  ModelMaker::add_node(graph, "Add", {"s", "x"}, {"t"});
  ModelMaker::add_node(graph, "MatMul", {"t", "w"}, {"s2"});
  ModelMaker::add_node(graph, "Identity", {"s2"}, {"o"});
  graph->add_output()->set_name("s2");
  graph->add_output()->set_name("o");
  m.output("last");
  m.output("all");
  return m;
}

// While a sum is small: a branch of each pass grows a value, whose shape changes too.
ModelMaker nested_control() {
  ModelMaker m;
  m.input("x", {"1", "2"});
  m.input("limit", {});
  m.initializer("go", kBool, {})->add_int32_data(1);
  number(m, "most", 6);
  auto* node = m.node("Loop", {"most", "go", "x"}, {"y"});
  auto* graph = body(node, "body");
  ModelMaker::set_type(graph->add_input(), "i", kI64, {});
  ModelMaker::set_type(graph->add_input(), "c", kBool, {});
  ModelMaker::set_type(graph->add_input(), "v", kF32, {"", "2"});
  ModelMaker::set_int(ModelMaker::add_node(graph, "ReduceSum", {"v"}, {"sum"}), "keepdims", 0);
  ModelMaker::add_node(graph, "Less", {"sum", "limit"}, {"c2"});
  auto* choice = ModelMaker::add_node(graph, "If", {"c2"}, {"v2"});
  auto* grow = body(choice, "then_branch");
  ModelMaker::set_int(ModelMaker::add_node(grow, "Concat", {"v", "x"}, {"r"}), "axis", 0);
  grow->add_output()->set_name("r");
  auto* stay = body(choice, "else_branch");
  ModelMaker::add_node(stay, "Neg", {"v"}, {"r"});
  stay->add_output()->set_name("r");
  graph->add_output()->set_name("c2");
  graph->add_output()->set_name("v2");
  m.output("y");
  return m;
}

// Shapes that depend on data.
ModelMaker data_dependent() {
  ModelMaker m;
  m.input("x", {"3", "4"});
  m.input("n", {}, kI64);
  m.node("NonZero", {"x"}, {"places"});
  ints(m.node("Transpose", {"places"}, {"at"}), "perm", {1, 0});
  m.node("GatherND", {"x", "at"}, {"found"});
  m.node("Unique", {"found"}, {"only", "where", "back", "often"});
  number(m, "zero", 0);
  number(m, "step", 1);
  m.node("Range", {"zero", "n", "step"}, {"counted"});
  m.node("Greater", {"x", "mean"}, {"mask"});
  weights(m, "mean", {1});
  ModelMaker::set_int(m.node("Compress", {"x", "some"}, {"rows"}), "axis", 0);
  auto* some = m.initializer("some", kBool, {3});
  for (int v : {1, 0, 1}) some->add_int32_data(v);
  m.node("Where", {"mask", "x", "mean"}, {"chosen"});
  m.node("ScatterND", {"chosen", "at", "found"}, {"put"});
  m.node("ScatterElements", {"x", "index", "updates"}, {"moved"});
  auto* index = m.initializer("index", kI64, {1, 2});
  for (int v : {1, 2}) index->add_int64_data(v);
  weights(m, "updates", {1, 2});
  for (const char* name : {"only", "often", "counted", "rows", "put", "moved"}) m.output(name);
  return m;
}

ModelMaker detection() {
  ModelMaker m;
  m.input("boxes", {"1", "6", "4"});
  m.input("scores", {"1", "2", "6"});
  number(m, "most", 3);
  m.initializer("overlap", kF32, {1})->add_float_data(0.5f);
  m.node("NonMaxSuppression", {"boxes", "scores", "most", "overlap"}, {"kept"});
  number(m, "two", 2);
  ModelMaker::set_int(m.node("Gather", {"kept", "two"}, {"at"}), "axis", 1);
  ModelMaker::set_int(m.node("Gather", {"boxes", "at"}, {"best"}), "axis", 1);
  numbers(m, "k", {2});
  m.node("TopK", {"scores", "k"}, {"top", "where"});
  m.input("picture", {"1", "2", "8", "8"});
  weights(m, "areas", {2, 4});
  numbers(m, "batches", {0, 0});
  auto* align = m.node("RoiAlign", {"picture", "areas", "batches"}, {"parts"});
  ModelMaker::set_int(align, "output_height", 2);
  ModelMaker::set_int(align, "output_width", 2);
  weights(m, "grid", {1, 3, 3, 2});
  m.node("GridSample", {"picture", "grid"}, {"sampled"});
  for (const char* name : {"best", "top", "where", "parts", "sampled"}) m.output(name);
  return m;
}

ModelMaker norms() {
  ModelMaker m(21);
  m.input("x", {"N", "4", "6", "6"});
  for (const char* name : {"a", "b", "c"}) weights(m, name, {4});
  auto* variance = m.initializer("v", kF32, {4});
  for (int i = 0; i < 4; ++i) variance->add_float_data(1);
  m.node("BatchNormalization", {"x", "a", "b", "c", "v"}, {"n"});
  m.node("InstanceNormalization", {"n", "a", "b"}, {"i"});
  ModelMaker::set_int(m.node("GroupNormalization", {"i", "a", "b"}, {"g"}), "num_groups", 2);
  ModelMaker::set_int(m.node("LRN", {"g"}, {"l"}), "size", 3);
  m.node("Gelu", {"l"}, {"u"});
  m.node("HardSwish", {"l"}, {"h"});
  m.node("Mul", {"u", "h"}, {"p"});
  auto* einsum = m.node("Einsum", {"p", "p"}, {"e"});
  ModelMaker::attribute(einsum, "equation", kStringType)->set_s("nchw,ncHw->nhH");
  m.node("ReduceMean", {"p"}, {"r"});
  m.output("e");
  m.output("r");
  return m;
}

ModelMaker four_bits() {
  ModelMaker m(21);
  m.input("x", {"3", "8"});
  auto* w = m.initializer("w", kU4, {8, 5});
  w->set_raw_data(std::string(20, '\x5a'));
  auto* scales = m.initializer("s", kF32, {2, 5});
  for (int i = 0; i < 10; ++i) scales->add_float_data(0.25f);
  auto* zeros = m.initializer("z", kU4, {2, 5});
  zeros->set_raw_data(std::string(5, '\x11'));
  auto* node = m.node("DequantizeLinear", {"w", "s", "z"}, {"d"});
  ModelMaker::set_int(node, "axis", 0);
  ModelMaker::set_int(node, "block_size", 4);
  m.node("MatMul", {"x", "d"}, {"p"});
  m.initializer("ps", kF32, {})->add_float_data(0.1f);
  m.initializer("pz", kU8, {})->add_int32_data(9);
  m.node("QuantizeLinear", {"p", "ps", "pz"}, {"q"});
  auto* k = m.initializer("k", kU8, {5, 2});
  k->set_raw_data(std::string(10, '\x03'));
  m.node("MatMulInteger", {"q", "k", "pz", "pz"}, {"i"});
  m.node("QLinearMatMul", {"q", "ps", "pz", "k", "ps", "pz", "ps", "pz"}, {"y"});
  m.output("i");
  m.output("y");
  return m;
}

ModelMaker words() {
  ModelMaker m(20);
  m.input("x", {"3"}, kString);
  auto* list = m.initializer("list", kString, {3});
  for (const char* word : {"a b", "", "c"}) list->add_string_data(word);
  m.node("StringSplit", {"list"}, {"parts", "counts"});
  auto* upper = m.node("StringNormalizer", {"list"}, {"big"});
  ModelMaker::attribute(upper, "case_change_action", kStringType)->set_s("UPPER");
  m.node("StringConcat", {"big", "x"}, {"both"});
  m.node("Equal", {"x", "list"}, {"same"});
  for (const char* name : {"parts", "counts", "both", "same"}) m.output(name);
  return m;
}

ModelMaker optionals() {
  ModelMaker m(18);
  m.input("x", {"2", "3"});
  m.node("Optional", {"x"}, {"o"});
  m.node("OptionalHasElement", {"o"}, {"has"});
  m.node("OptionalGetElement", {"o"}, {"v"});
  m.node("SequenceConstruct", {"v", "x", "x"}, {"s"});
  m.node("SequenceLength", {"s"}, {"n"});
  number(m, "last", -1);
  m.node("SequenceErase", {"s", "last"}, {"t"});
  auto* map = m.node("SequenceMap", {"t"}, {"u"});
  auto* graph = body(map, "body");
  ModelMaker::set_type(graph->add_input(), "e", kF32, {"2", "3"});
  ModelMaker::add_node(graph, "Exp", {"e"}, {"f"});
  graph->add_output()->set_name("f");
  m.node("SequenceAt", {"u", "last"}, {"y"});
  for (const char* name : {"has", "n", "y"}) m.output(name);
  return m;
}

// A function with an attribute and a default, called by another one.
ModelMaker nested_functions() {
  ModelMaker m(18);
  m.input("x", {"2", "3"});
  auto* set = m.model.add_opset_import();
  set->set_domain("own");
  set->set_version(1);
  auto* call = m.node("Outer", {"x"}, {"y"});
  call->set_domain("own");
  ModelMaker::attribute(call, "slope", kFloatType)->set_f(0.5f);
  for (const char* name : {"Inner", "Outer"}) {
    auto* function = m.model.add_functions();
    function->set_name(name);
    function->set_domain("own");
    function->add_input("a");
    function->add_output("b");
    function->add_attribute("slope");
    for (const char* domain : {"", "own"}) {
      auto* uses = function->add_opset_import();
      uses->set_domain(domain);
      uses->set_version(*domain ? 1 : 18);
    }
    const bool inner = *name == 'I';
    auto* node = ModelMaker::add_node(function, inner ? "LeakyRelu" : "Inner", {"a"}, {"b"});
    if (!inner) node->set_domain("own");
    auto* attribute = ModelMaker::attribute(node, inner ? "alpha" : "slope", kFloatType);
    attribute->set_ref_attr_name("slope");
  }
  m.output("y");
  return m;
}

ModelMaker signals() {
  ModelMaker m(17);
  m.input("x", {"1", "16", "1"});
  number(m, "step", 4);
  number(m, "length", 8);
  m.node("STFT", {"x", "step", "", "length"}, {"f"});
  m.node("DFT", {"x"}, {"d"});
  m.node("HannWindow", {"length"}, {"w"});
  auto* gru = m.node("GRU", {"s", "gw", "gr"}, {"g"});
  ModelMaker::set_int(gru, "hidden_size", 2);
  ints(m.node("Transpose", {"x"}, {"s"}), "perm", {1, 0, 2});
  weights(m, "gw", {1, 6, 1});
  weights(m, "gr", {1, 6, 2});
  m.node("CumSum", {"x", "axis"}, {"c"});
  m.initializer("axis", kI64, {})->add_int64_data(1);
  for (const char* name : {"f", "d", "w", "g", "c"}) m.output(name);
  return m;
}

// One tensor in a file beside, one sparse.
ModelMaker with_other_data(const std::string& folder) {
  std::ofstream(folder + "/weights", std::ios::binary) << std::string(64, '\x3c');
  ModelMaker m;
  m.input("x", {"2", "4"});
  auto* tensor = m.initializer("w", kF32, {2, 4});
  tensor->set_data_location(1);
  for (const auto& [key, value] : {std::pair("location", "weights"), {"offset", "16"}, {"length", "32"}}) {
    auto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  auto* sparse = m.graph()->add_sparse_initializer();
  sparse->mutable_values()->set_name("t");
  sparse->mutable_values()->set_data_type(kF32);
  sparse->mutable_values()->add_dims(2);
  sparse->mutable_indices()->set_data_type(kI64);
  sparse->mutable_indices()->add_dims(2);
  for (int64_t v : {1, 6}) sparse->mutable_values()->add_float_data(2), sparse->mutable_indices()->add_int64_data(v);
  for (int64_t d : {2, 4}) sparse->add_dims(d);
  m.node("Add", {"x", "w"}, {"a"});
  m.node("Add", {"a", "t"}, {"y"});
  m.output("y");
  return m;
}

}  // namespace

std::vector<Seed> rare_models(const std::string& folder) {
  return {{"states", with_states().bytes()},
          {"bounds", with_bounds().bytes()},
          {"other data", with_other_data(folder).bytes()},
          {"scan", scan().bytes()},
          {"nested control", nested_control().bytes()},
          {"data", data_dependent().bytes()},
          {"detection", detection().bytes()},
          {"norms", norms().bytes()},
          {"four bits", four_bits().bytes()},
          {"words", words().bytes()},
          {"optionals", optionals().bytes()},
          {"nested functions", nested_functions().bytes()},
          {"signals", signals().bytes()}};
}

}  // namespace mica::fuzz
