#include <gtest/gtest.h>

#include <functional>

#include "plan/plan.test.h"

namespace mica {
namespace {

TEST(Validate, TakesThePlanWithOneOfEverything) {
  const TestPlan made;
  const Status status = validate(made.plan);
  EXPECT_TRUE(status.ok()) << status.error().what();
}

struct Fault {
  const char* what;
  std::function<void(TestPlan&)> make;
  Code code = Code::kBadFile;
};

TEST(Validate, NamesEachFaultAndItsPlace) {
  const auto main = [](TestPlan& p) -> PlanFunction& { return p.plan.functions[0]; };
  const Fault faults[] = {
      {"no function", [](TestPlan& p) { p.plan.functions.clear(); }},
      {"an operand that does not exist", [&](TestPlan& p) { main(p).stages[0].inputs[0] = 1000; }},
      {"a value used before it is made", [&](TestPlan& p) { main(p).stages[0].inputs[0] = 2; }},
      {"a value made twice", [&](TestPlan& p) { main(p).stages[1].outputs[0] = 1; }},
      {"a constant made by a stage", [&](TestPlan& p) { main(p).stages[0].outputs[0] = 3; }},
      {"an output that nobody makes", [&](TestPlan& p) { main(p).outputs[0] = 77; }},
      {"an input that is no argument", [&](TestPlan& p) { main(p).inputs[0] = 1; }},
      {"an input twice", [&](TestPlan& p) { main(p).inputs[1] = 0; }},
      {"a constant that does not exist", [&](TestPlan& p) { main(p).values[3].constant = 50; }},
      {"a constant of another type", [&](TestPlan& p) { main(p).values[3].type.dtype = DType::kI32; }},
      {"a name that does not exist", [&](TestPlan& p) { main(p).values[0].name = 50; }},
      {"a dimension that does not exist",
       [&](TestPlan& p) { main(p).values[0].type.shape[0] = Dim::expression(1000); }},
      {"a negative dimension", [&](TestPlan& p) { main(p).values[0].type.shape[0] = -2; }},
      {"a rank over the limit", [&](TestPlan& p) { main(p).values[0].type.shape.rank = 11; }},
      {"channels last of a matrix", [&](TestPlan& p) { main(p).values[2].channels_last = true; }},
      {"attributes of another size", [&](TestPlan& p) { main(p).stages[0].attributes.pop_back(); }},
      {"a choice that does not exist",
       [&](TestPlan& p) {
         reinterpret_cast<TestAttributes*>(main(p).stages[0].attributes.data())->mode = static_cast<TestMode>(9);
       }},
      {"an attribute's dimension",
       [&](TestPlan& p) {
         reinterpret_cast<TestAttributes*>(main(p).stages[0].attributes.data())->dims[0] = Dim::expression(99);
       }},
      {"too few inputs", [&](TestPlan& p) { main(p).stages[0].inputs.clear(); }},
      {"a needed input left out", [&](TestPlan& p) { main(p).stages[1].inputs[0] = kNoIndex; }},
      {"a region too few", [&](TestPlan& p) { main(p).stages[2].functions.clear(); }},
      {"a cycle of calls", [&](TestPlan& p) { main(p).stages[2].functions[0] = 0; }},
      {"an epilogue's operand of the operator", [&](TestPlan& p) { main(p).stages[1].epilogue.ops[1].operand = 0; }},
      {"an epilogue's missing operand", [&](TestPlan& p) { main(p).stages[1].epilogue.ops[1].operand = -1; }},
      {"an epilogue without a result", [&](TestPlan& p) { main(p).stages[1].outputs[0] = kNoIndex; }},
      {"an epilogue that is too long", [&](TestPlan& p) { main(p).stages[1].epilogue.count = 7; }},
      {"an epilogue's unknown function",
       [&](TestPlan& p) { main(p).stages[1].epilogue.ops[0].function = static_cast<Pointwise>(200); }},
      {"a constant's size", [](TestPlan& p) { p.plan.constants[0].bytes = 20; }},
      {"a constant's size that overflows",
       [](TestPlan& p) {
         p.plan.constants[4].shape = {0, int64_t{1} << 62};
       }},
      {"a packed constant's size", [](TestPlan& p) { p.plan.constants[2].bytes -= 4; }},
      {"an unknown packed form", [](TestPlan& p) { p.plan.constants[2].packing.kind = 77; }},
      {"a state without a port", [](TestPlan& p) { p.plan.states[0].output = 9; }},
      {"ports missing", [](TestPlan& p) { p.plan.outputs.pop_back(); }},
      {"metadata without a key", [](TestPlan& p) { p.plan.metadata[0].key = kNoIndex; }},
  };
  for (const Fault& fault : faults) {
    TestPlan made;
    fault.make(made);
    const Status status = validate(made.plan);
    EXPECT_EQ(status.ok() ? Code::kOk : status.error().code(), fault.code) << fault.what;
  }
  TestPlan made;
  made.plan.functions[0].stages[1].inputs[2] = 999;
  EXPECT_EQ(validate(made.plan).error().where().substr(0, 10), "function 0");
}

TEST(Validate, DimensionsThatGrowExponentiallyAreRefused) {
  DimTable dims;
  SymbolInfo symbol;
  ASSERT_TRUE(symbol.name.assign("n"));
  ASSERT_TRUE(dims.restore({.op = 0, .symbol = &symbol, .args = {}}).ok());
  for (uint32_t i = 0; i < 80; ++i) {
    const int64_t both[] = {Dim::expression(i).raw(), Dim::expression(i).raw()};
    ASSERT_TRUE(dims.restore({.op = 2, .symbol = nullptr, .args = both}).ok());
  }
  EXPECT_EQ(dims.check({1000, 1000, 1 << 16}).error().code(), Code::kLimit);
  Plan plan;
  plan.dims = std::move(dims);
  ASSERT_TRUE(plan.functions.resize(1).ok());
  EXPECT_EQ(validate(plan).error().code(), Code::kLimit);
}

TEST(Validate, EntriesOfDimensionsThatNoTableHoldsAreRefused) {
  DimTable dims;
  SymbolInfo symbol;
  ASSERT_TRUE(symbol.name.assign("n"));
  ASSERT_TRUE(dims.restore({.op = 0, .symbol = &symbol, .args = {}}).ok());
  EXPECT_FALSE(dims.restore({.op = 0, .symbol = &symbol, .args = {}}).ok());  // twice
  const int64_t n = Dim::expression(0).raw(), later = Dim::expression(1).raw();
  const auto refused = [&](uint8_t op, std::vector<int64_t> args) {
    return !dims.restore({.op = op, .symbol = nullptr, .args = args}).ok();
  };
  EXPECT_TRUE(refused(6, {n, n}));
  EXPECT_TRUE(refused(1, {1}));
  EXPECT_TRUE(refused(1, {1, 2}));
  EXPECT_TRUE(refused(1, {n, 2, n}));
  EXPECT_TRUE(refused(1, {1, 0, n}));
  EXPECT_TRUE(refused(1, {1, 2, 5}));
  EXPECT_TRUE(refused(1, {1, 2, later}));
  EXPECT_TRUE(refused(2, {n}));
  EXPECT_TRUE(refused(2, {n, 4}));
  EXPECT_TRUE(refused(2, std::vector<int64_t>(9, n)));
  EXPECT_TRUE(refused(3, {n, 0}));
  EXPECT_TRUE(refused(4, {n, n, n}));
  EXPECT_FALSE(refused(1, {1, 2, n}));
}

}  // namespace
}  // namespace mica
