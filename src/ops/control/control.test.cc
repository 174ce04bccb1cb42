// Types through regions: values that change from turn to turn, branches that differ.
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ops/control/loop.h"
#include "ops/move/concat.h"

namespace mica {
MICA_DECLARE_OP(loop);
MICA_DECLARE_OP(cond);
MICA_DECLARE_OP(concat);
namespace {

// A loop whose region appends `captured` to the carried value along axis 0 and collects the captured value itself.
Values growing_loop(Graph& graph, Value* trips) {
  Builder build(graph);
  Value* first = graph.add_input(Type::tensor(DType::kF32, Shape{2, 3}), "first");
  Value* captured = graph.add_input(Type::tensor(DType::kF32, Shape{1, 3}), "captured");
  auto body = std::make_unique<Graph>();
  body->dims = graph.dims;
  body->add_input(Type::tensor(DType::kI64, Shape::of_rank(0)), "turn");
  Value* go = body->add_input(Type::tensor(DType::kBool, Shape::of_rank(0)), "go");
  Value* state = body->add_input(first->type, "state");
  Value* row = body->add_input(captured->type, "row");
  Builder inner(*body);
  body->add_output(go, "go");
  body->add_output(inner.one(op_concat, Concat{.axis = 0}, {state, row}), "longer");
  body->add_output(row, "seen");
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(std::move(body));
  const bool yes = true;
  const Loop attributes{.carried = 1};
  return build.add_with_regions(op_loop, &attributes, {trips, build.constant(DType::kBool, {}, &yes), first, captured},
                                std::move(regions), 2);
}

TEST(Loop, CarriedShapesMayGrow) {
  Graph graph;
  const int64_t trips = 5;
  const Values out = growing_loop(graph, Builder(graph).constant(DType::kI64, {}, &trips));
  EXPECT_EQ(out[0]->type.shape.rank, 2);
  EXPECT_FALSE(out[0]->type.shape[0].is_fixed());
  EXPECT_TRUE(graph.dims->depends_on(out[0]->type.shape[0], SymbolKind::kData));
  EXPECT_TRUE(out[0]->type.shape[1].is(3));
  EXPECT_EQ(out[1]->type.shape, (Shape{5, 1, 3}));  // a condition that stays true: as many turns as were asked for
}

TEST(Loop, UnknownTripsCollectAnUnknownNumber) {
  Graph graph;
  const Values out = growing_loop(graph, graph.add_input(Type::tensor(DType::kI64, Shape::of_rank(0)), "trips"));
  EXPECT_FALSE(out[1]->type.shape[0].is_fixed());
  EXPECT_TRUE(out[1]->type.shape[1].is(1));
}

TEST(If, BranchesThatDiffer) {
  Graph graph;
  Builder build(graph);
  Value* condition = graph.add_input(Type::tensor(DType::kBool, Shape::of_rank(0)), "condition");
  Value* x = graph.add_input(Type::tensor(DType::kF32, Shape{2, 3}), "x");
  const auto branch = [&](int copies) {
    auto body = std::make_unique<Graph>();
    body->dims = graph.dims;
    Value* in = body->add_input(x->type, "x");
    body->add_output(Builder(*body).one(op_concat, Concat{.axis = 0}, Values(static_cast<size_t>(copies), in)), "y");
    return body;
  };
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(branch(1));
  regions.push_back(branch(2));
  const Values out = build.add_with_regions(op_cond, nullptr, {condition, x}, std::move(regions), 1);
  EXPECT_EQ(out[0]->type.shape.rank, 2);
  EXPECT_FALSE(out[0]->type.shape[0].is_fixed());
  EXPECT_TRUE(out[0]->type.shape[1].is(3));
}

}  // namespace
}  // namespace mica
