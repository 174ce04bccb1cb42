#include "ir/verify.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/builder.h"
#include "ir/text.h"

namespace mica {
namespace {

Graph sound() {
  return graph_from_text(R"(graph "g"
  input %x: f32[N,4] "x"
  input %h: f32[2,4] "h"
  constant %w: f32[4] = {1, 2, 3, 4}
  %a: f32[N,4] = add(%x, %w)
  %b: f32[N,4] = relu(%a)
  %s: i64[2] = shape(%b)
  %r: f32[2,4] = relu(%h)
  output %b "b"
  output %r "r"
  state "r" "h"
end)");
}

std::string broken(const Graph& graph) {
  const auto found = violations(graph);
  return found.empty() ? "" : std::string(found[0].rule);
}

TEST(Verify, AcceptsASoundGraph) {
  EXPECT_EQ(broken(sound()), "");
  EXPECT_TRUE(verify(sound(), "import").ok());
}

TEST(Verify, RulesHaveNamesAndMeanings) {
  std::set<std::string_view> names;
  for (const VerifyRule& rule : verify_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second);
    EXPECT_FALSE(rule.meaning.empty());
  }
}

TEST(Verify, TellsTheStageAndTheNode) {
  Graph graph = sound();
  graph.nodes[1]->name = "act";
  std::swap(graph.nodes[0], graph.nodes[1]);
  const Status status = verify(graph, "declutter");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), Code::kInternal);
  EXPECT_EQ(status.error().where(), "declutter");
  EXPECT_NE(status.error().what().find("`order`"), std::string_view::npos);
  EXPECT_NE(status.error().what().find("`act`"), std::string_view::npos);
}

// One planted violation for each rule, and more for those that say several things.
struct Planted {
  const char* rule;
  void (*plant)(Graph&);
};

Graph& other() {
  static Graph graph = sound();
  return graph;
}

const Planted kPlanted[] = {
    {"nodes", [](Graph& g) { g.nodes[0]->op = nullptr; }},
    {"nodes", [](Graph& g) { g.nodes.push_back(nullptr); }},
    {"ownership", [](Graph& g) { g.nodes[0]->inputs[0] = other().inputs[0]; }},
    {"ownership", [](Graph& g) { g.outputs[0] = other().outputs[0]; }},
    {"arity", [](Graph& g) { g.nodes[0]->inputs.pop_back(); }},
    {"arity", [](Graph& g) { g.nodes[0]->inputs[1] = nullptr; }},
    {"arity", [](Graph& g) { g.nodes[0]->outputs.push_back(nullptr); }},
    {"arity", [](Graph& g) { g.nodes[0]->regions.push_back(std::make_unique<Graph>()); }},
    {"attributes", [](Graph& g) { g.nodes[2]->attributes_blob.resize(g.nodes[2]->attributes_blob.size() + 1); }},
    {"producers", [](Graph& g) { g.nodes[0]->outputs[0]->producer = g.nodes[1].get(); }},
    {"producers", [](Graph& g) { g.nodes[0]->outputs[0]->output = 1; }},
    {"producers", [](Graph& g) { g.nodes[0]->outputs[0]->constant = g.nodes[0]->inputs[1]->constant; }},
    {"producers", [](Graph& g) { g.nodes.erase(g.nodes.begin()); }},
    {"producers",
     [](Graph& g) {
       g.inputs.push_back(g.nodes[0]->outputs[0]);
       g.input_names.push_back("new");
     }},
    {"order", [](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }},
    {"order", [](Graph& g) { g.outputs[0] = g.make_value(g.outputs[0]->type, "nothing"); }},
    {"interface", [](Graph& g) { g.input_names[1] = g.input_names[0]; }},
    {"interface", [](Graph& g) { g.output_names.push_back("more"); }},
    {"interface", [](Graph& g) { g.outputs[0] = nullptr; }},
    {"interface", [](Graph& g) { g.states[0].output = 7; }},
    {"interface", [](Graph& g) { g.states.push_back(g.states[0]); }},
    {"types", [](Graph& g) { g.outputs[0]->type = {}; }},
    {"dimensions", [](Graph& g) { g.outputs[0]->type.shape[0] = Dim::expression(1000); }},
    {"dimensions", [](Graph& g) { g.outputs[0]->type.shape[0] = -2; }},
    {"contents", [](Graph& g) { g.nodes[0]->inputs[1]->type.shape = {5}; }},
    {"contents", [](Graph& g) { g.nodes[2]->outputs[0]->values.pop_back(); }},
    {"inference", [](Graph& g) { g.outputs[0]->type.shape[1] = 5; }},
    {"inference", [](Graph& g) { g.outputs[0]->type.dtype = DType::kF16; }},
};

TEST(Verify, FindsEachPlantedViolation) {
  for (const Planted& planted : kPlanted) {
    Graph graph = sound();
    planted.plant(graph);
    EXPECT_EQ(broken(graph), planted.rule);
  }
}

TEST(Verify, LooksIntoRegions) {
  Graph graph = graph_from_text(R"(graph "g"
  input %c: bool[] "c"
  input %x: f32[2] "x"
  %y = cond(%c, %x)
    region "then"
      input %x: f32[2] "x"
      %r = relu(%x)
      output %r "r"
    end
    region "else"
      input %x: f32[2] "x"
      output %x "r"
    end
  output %y "y"
end)");
  EXPECT_EQ(broken(graph), "");
  auto copy = clone(graph);
  copy->nodes[0]->regions[0]->nodes[0]->inputs[0] = copy->inputs[1];
  EXPECT_EQ(broken(*copy), "ownership");
  copy = clone(graph);
  copy->nodes[0]->regions[0]->dims = std::make_shared<DimTable>();
  EXPECT_EQ(broken(*copy), "regions");
}

TEST(Verify, EveryRuleHasAPlantedViolation) {
  std::set<std::string> covered{"regions"};
  for (const Planted& planted : kPlanted) covered.insert(planted.rule);
  for (const VerifyRule& rule : verify_rules()) EXPECT_TRUE(covered.contains(std::string(rule.name))) << rule.name;
}

}  // namespace
}  // namespace mica
