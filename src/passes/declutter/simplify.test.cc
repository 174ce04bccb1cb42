#include "passes/declutter/simplify.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace mica {
namespace {

size_t nodes_left(const char* text, FoldBudget budget) {
  Graph graph = graph_from_text(text);
  DeclutterOptions options;
  options.fold = budget;
  declutter(graph, options);
  return graph.nodes.size();
}

// Results of 4096 numbers, which inference leaves to folding: two of them, 16 KiB each, for 16 bytes each.
constexpr const char* kTwoTiles = R"(graph "g"
  input %x: f32[64,64] "x"
  constant %a: f32[1,4] = {1, 2, 3, 4}
  constant %b: f32[1,4] = {4, 3, 2, 1}
  constant %times: i64[2] = {64, 16}
  %c = tile(%a, %times)
  %d = tile(%b, %times)
  %e = mul(%x, %c)
  %y = sub(%e, %d)
  output %y "y"
end
)";

TEST(FoldBudget, BytesAreCountedOverAllNodes) {
  constexpr int64_t kGrowth = 2 * (64 * 64 * 4 - 16);  // once %times has one reader left, its 16 bytes count, too
  EXPECT_EQ(nodes_left(kTwoTiles, {.bytes = kGrowth}), 2u);
  EXPECT_EQ(nodes_left(kTwoTiles, {.bytes = kGrowth - 17}), 3u);
  EXPECT_EQ(nodes_left(kTwoTiles, {.bytes = 0}), 4u);
  EXPECT_EQ(nodes_left(kTwoTiles, {.total = 2 * 64 * 64 * 4, .passes = 0}), 2u);
  EXPECT_EQ(nodes_left(kTwoTiles, {.total = 2 * 64 * 64 * 4 - 1, .passes = 0}), 3u);
}

// 64 x 64 truth values take the time of as many floats.
TEST(FoldBudget, SmallElementsCountAsFour) {
  constexpr const char* kText = R"(graph "g"
  input %x: f32[64,64] "x"
  constant %a: bool[1,4] = {1, 0, 1, 1}
  constant %times: i64[2] = {64, 16}
  %c = tile(%a, %times)
  %y = where(%c, %x, %x)
  output %y "y"
end
)";
  EXPECT_EQ(nodes_left(kText, {.total = 64 * 64 * 4, .passes = 0}), 1u);
  EXPECT_EQ(nodes_left(kText, {.total = 64 * 64 * 4 - 1, .passes = 0}), 2u);
}

// A result that takes its operand's place costs nothing, however large: weights that are brought into another form.
TEST(FoldBudget, WhatReplacesAConstantIsFree) {
  constexpr const char* kText = R"(graph "g"
  input %x: f32[64,64] "x"
  constant %a: f32[1,4] = {1, 2, 3, 4}
  constant %times: i64[2] = {64, 16}
  %c = tile(%a, %times)
  %t = transpose(%c) perm=[1,0]
  %e = exp(%t)
  %y = mul(%x, %e)
  output %y "y"
end
)";
  EXPECT_EQ(nodes_left(kText, {.bytes = 64 * 64 * 4}), 1u);
}

// 2 · 64 · 64 · 4 operations.
TEST(FoldBudget, ArithmeticIsLimited) {
  constexpr const char* kText = R"(graph "g"
  input %x: f32[64,64] "x"
  constant %times: i64[2] = {64, 1}
  constant %a: f32[1,4] = {1, 2, 3, 4}
  constant %turn: i64[2] = {1, 64}
  constant %b: f32[4,1] = {4, 3, 2, 1}
  %c = tile(%a, %times)
  %d = tile(%b, %turn)
  %e = matmul(%c, %d)
  %y = mul(%x, %e)
  output %y "y"
end
)";
  EXPECT_EQ(nodes_left(kText, {}), 1u);
  EXPECT_EQ(nodes_left(kText, {.flops = 2 * 64 * 64 * 4, .flops_per_byte = 0}), 1u);
  EXPECT_EQ(nodes_left(kText, {.flops = 2 * 64 * 64 * 4 - 1, .flops_per_byte = 0}), 2u);
}

}  // namespace
}  // namespace mica
