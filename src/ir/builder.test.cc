#include "ir/builder.h"

#include <gtest/gtest.h>

#include "ir/spelling.h"

namespace mica {
namespace {

const OpDef& op(std::string_view name) {
  const OpDef* found = find_op(name);
  if (!found) fail(Code::kNotFound, "no operator `{}`", name);
  return *found;
}

Code code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.error->code();
  }
  return Code::kOk;
}

TEST(Builder, InfersTypesAndElementsWhenNodesAreAdded) {
  Graph graph;
  Builder build(graph);
  const Dim n = graph.dims->symbol("N");
  Value* x = graph.add_input(Type::tensor(DType::kF32, {n, 3, 5}), "x");
  Value* shape = build.one(op("shape"), {x});
  EXPECT_EQ(shape->type, Type::tensor(DType::kI64, {3}));
  ASSERT_TRUE(shape->has_values);
  EXPECT_EQ(shape->values, (std::vector<Dim>{n, 3, 5}));
  EXPECT_EQ(shape->producer, graph.nodes[0].get());
}

// How exporters of traces spell "expand to these sizes, where -1 keeps what is there".
TEST(Builder, ASizeIsNeverMinusOne) {
  Graph graph;
  Builder build(graph);
  const Dim n = graph.dims->symbol("N");
  Value* x = graph.add_input(Type::tensor(DType::kF32, {n, 5}), "x");
  Value* row = graph.add_input(Type::tensor(DType::kF32, {1, 5}), "row");
  Value* sizes = build.one(op("shape"), {x});
  Value* open = build.one(op("equal"), {sizes, build.ints(std::vector<int64_t>{-1, -1})});
  EXPECT_TRUE(open->has_values);
  Value* chosen = build.one(op("where"), {open, build.ints(std::vector<int64_t>{1, 1}), sizes});
  EXPECT_EQ(build.one(op("expand"), {row, chosen})->type.shape, (Shape{n, 5}));
  EXPECT_FALSE(build.one(op("equal"), {sizes, build.ints(std::vector<int64_t>{3, 5})})->has_values);
  EXPECT_TRUE(build.one(op("less"), {build.ints(std::vector<int64_t>{-1}), sizes})->has_values);
}

TEST(Builder, ASliceFromTheLeastNumberBeginsAtTheBeginning) {
  Graph graph;
  Builder build(graph);
  const Dim n = graph.dims->symbol("N");
  Value* x = graph.add_input(Type::tensor(DType::kF32, {n, 5, 3}), "x");
  Value* begin = build.ints(std::vector<int64_t>{std::numeric_limits<int64_t>::min()});
  Value* some = build.one(op("slice"), {build.one(op("shape"), {x}), begin, build.ints(std::vector<int64_t>{-1})});
  EXPECT_EQ(some->type.shape, Shape{2});
  ASSERT_TRUE(some->has_values);
  EXPECT_EQ(some->values, (std::vector<Dim>{n, 5}));
}

TEST(Builder, KeepsContentsThatBecomeKnown) {
  Graph graph;
  Builder build(graph);
  Value* a = build.ints(std::vector<int64_t>{1, 2});
  Value* b = build.ints(std::vector<int64_t>{7});
  Value* both = build.one(op("concat"), {a, b});
  ASSERT_NE(both->contents(), nullptr);
  EXPECT_FALSE(both->is_constant());
  const Elements elements(*both->contents());
  EXPECT_EQ(elements.integer(0), 1);
  EXPECT_EQ(elements.integer(2), 7);
}

TEST(Builder, LeavesNothingBehindWhenInferenceFails) {
  Graph graph;
  Builder build(graph);
  build.set_name("here");
  Value* a = build.constant(DType::kF32, std::vector<int64_t>{2, 2}, std::vector<float>(4).data());
  Value* b = build.constant(DType::kF32, std::vector<int64_t>{2}, std::vector<float>(2).data());
  const size_t pool = graph.value_pool.size();
  try {
    build.one(op("concat"), {a, b});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(failure.error->where().find("here"), std::string_view::npos);
  }
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_EQ(graph.value_pool.size(), pool);
}

TEST(Builder, RefusesWrongNumbersOfOperands) {
  Graph graph;
  Builder build(graph);
  Value* a = build.scalar(DType::kF32, 1);
  EXPECT_EQ(code_of([&] { build.add(op("relu"), {a, a}); }), Code::kBadModel);
  EXPECT_EQ(code_of([&] { build.add(op("relu"), {}); }), Code::kBadModel);
  EXPECT_EQ(code_of([&] { build.add(op("relu"), {nullptr}); }), Code::kBadModel);
  EXPECT_EQ(code_of([&] { build.add(op("relu"), {a}, 2); }), Code::kBadModel);
  struct Other {
    int64_t a[9];
  };
  EXPECT_EQ(code_of([&] { build.add(op("concat"), Other{}, {a}); }), Code::kInternal);
}

TEST(Builder, InsertsInTheMiddle) {
  Graph graph;
  Builder build(graph);
  Value* x = graph.add_input(Type::tensor(DType::kF32, {2}), "x");
  build.one(op("relu"), {x});
  build.insert_at(0);
  build.one(op("neg"), {x});
  build.one(op("abs"), {x});
  EXPECT_EQ(graph.nodes[0]->op->name, "neg");
  EXPECT_EQ(graph.nodes[1]->op->name, "abs");
  EXPECT_EQ(graph.nodes[2]->op->name, "relu");
}

TEST(InferNode, KeepsTheSymbolsOfAnEarlierRun) {
  Graph graph;
  Builder build(graph);
  Value* x = graph.add_input(Type::tensor(DType::kF32, {4, 5}), "x");
  Value* where = build.one(op("non_zero"), {x});
  const Type before = where->type;
  bool changed = true;
  infer_node(graph, *graph.nodes[0], &changed);
  EXPECT_EQ(where->type, before);
  EXPECT_FALSE(changed);
  x->type.shape = {4, 5, 6};
  infer_node(graph, *graph.nodes[0], &changed);
  EXPECT_TRUE(changed);
  EXPECT_TRUE(where->type.shape[0].is(3));
  EXPECT_EQ(where->type.shape[1], before.shape[1]);
}

TEST(Clone, CopiesEverythingAndSharesContents) {
  Graph graph;
  Builder build(graph);
  graph.name = "g";
  graph.metadata["k"] = "v";
  Value* x = graph.add_input(Type::tensor(DType::kF32, {2}), "x");
  Value* c = build.floats(std::vector<float>{1, 2});
  graph.add_output(build.one(op("add"), {x, c}), "y");
  graph.states.push_back({0, 0});
  const auto copy = clone(graph);
  ASSERT_EQ(copy->nodes.size(), 1u);
  EXPECT_NE(copy->inputs[0], graph.inputs[0]);
  EXPECT_EQ(copy->nodes[0]->inputs[0], copy->inputs[0]);
  EXPECT_EQ(copy->nodes[0]->inputs[1]->constant, c->constant);
  EXPECT_EQ(copy->outputs[0]->producer, copy->nodes[0].get());
  EXPECT_EQ(copy->metadata, graph.metadata);
  EXPECT_EQ(copy->dims, graph.dims);
  EXPECT_EQ(copy->states.size(), 1u);
}

TEST(Spelling, AccessorsCheckKindsAndNoteWhatWasRead) {
  SourceNode node;
  node.op = "Conv";
  node.version = 11;
  SourceAttribute integer;
  integer.i = 3;
  node.attributes["group"] = integer;
  node.attributes["stride"] = integer;
  EXPECT_EQ(node.integer("group", 1), 3);
  EXPECT_EQ(node.number("group", 0), 3.f);
  EXPECT_EQ(code_of([&] { node.ints("group"); }), Code::kBadAttribute);
  EXPECT_EQ(code_of([&] { node.integer("missing"); }), Code::kBadAttribute);
  EXPECT_EQ(node.ints("strides", {1, 1}), (std::vector<int64_t>{1, 1}));
  try {
    check_all_read(node);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(failure.error->what().find("`stride`"), std::string_view::npos);
    EXPECT_EQ(failure.error->hint(), "did you mean `strides`?");
  }
  node.ignore("stride");
  check_all_read(node);
}

TEST(Spelling, ElementTypesOfOnnx) {
  EXPECT_EQ(source_dtype(Format::kOnnx, 1), DType::kF32);
  EXPECT_EQ(source_dtype(Format::kOnnx, 16), DType::kBf16);
  EXPECT_EQ(source_dtype(Format::kOnnx, 22), DType::kI4);
  EXPECT_EQ(source_dtype(Format::kOnnx, 26), DType::kI2);
  EXPECT_EQ(source_dtype(Format::kOnnx, 27), DType::kNone);
  EXPECT_EQ(source_dtype(Format::kOnnx, -1), DType::kNone);
}

}  // namespace
}  // namespace mica
