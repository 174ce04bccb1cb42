#include <gtest/gtest.h>

#include <cmath>

#include "kernels/attention/blocks.h"
#include "problem.h"

namespace mica::suite {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Sizes {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, size = 1, value_size = 1, past = 0;
};

// Operands within ±1. A score adds up `size` products of at most 1 and is scaled by 1/√size, so that it is off by at
// most (size + 4)·√size half units; a power is off relatively by as much as its score is off, both in a sum and in what
// divides it; the sum of values (at most 1) then adds `keys` roundings.
Problem problem(const Sizes& s, std::vector<Attribute> attributes = {}) {
  const int64_t fresh = s.keys - s.past;
  Problem made{.op = "attention", .attributes = std::move(attributes)};
  made.inputs = {uniform({s.batch, s.heads, s.queries, s.size}, -1, 1, 1),
                 uniform({s.batch, s.kv_heads, fresh, s.size}, -1, 1, 2),
                 uniform({s.batch, s.kv_heads, fresh, s.value_size}, -1, 1, 3)};
  const auto size = static_cast<double>(s.size);
  made.units = 16;
  made.terms = static_cast<double>(s.keys) + (size + 4) * std::sqrt(size);
  made.scale = 1;
  made.expect_kernel = "attention_f32";
  return made;
}

TEST(Attention, Shapes) {
  for (const Sizes& s : std::vector<Sizes>{{},
                                           {2, 3, 3, 5, 7, 4, 3},
                                           {1, 2, 1, 17, 33, 16, 16},
                                           {1, 4, 2, 67, 129, 24, 40},
                                           {2, 1, 1, 1, 301, 64, 64},
                                           {1, 2, 2, 3, 19, 37, 70},
                                           {1, 1, 1, 301, 67, 8, 129},
                                           {1, 2, 2, 85, 197, 30, 18},
                                           {1, 2, 1, 9, 1, 513, 5}})
    check(problem(s));
  Problem empty = problem({1, 1, 1, 3, 0, 4, 4});
  empty.expect_kernel.clear();
  check(empty);
}

TEST(Attention, HeadsInOneRow) {
  for (int64_t queries : {1, 21}) {
    Problem p = problem({2, 4, 2, queries, 13, 6, 5}, {{"q_heads", 4}, {"kv_heads", 2}});
    p.inputs = {uniform({2, queries, 24}, -1, 1, 1), uniform({2, 13, 12}, -1, 1, 2), uniform({2, 13, 10}, -1, 1, 3)};
    check(p);
  }
}

TEST(Attention, WhatAQuerySees) {
  for (const Sizes& s : std::vector<Sizes>{{1, 2, 2, 19, 19, 8, 8}, {2, 1, 1, 3, 40, 8, 8}, {1, 1, 1, 40, 7, 8, 8}}) {
    check(problem(s, {{"causal", true}}));
    check(problem(s, {{"left_window", 0}, {"right_window", 2}}));
    check(problem(s, {{"left_window", 3}, {"causal", true}, {"softcap", 0.5}, {"scale", 0.25}}));
  }
}

TEST(Attention, Masks) {
  const Sizes s{2, 3, 3, 18, 21, 8, 8};
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{
           {21}, {18, 21}, {1, 21}, {2, 1, 1, 21}, {2, 3, 18, 21}, {3, 1, 21}, {18, 13}}) {
    Problem p = problem(s);
    p.inputs.push_back(uniform(dims, -2, 2, 4));
    check(p);
    p.inputs[3] = uniform(dims, 0, 1, 5, DType::kBool);
    check(p);
    p.attributes = {{"causal", true}};
    check(p);
  }
}

TEST(Attention, AQueryThatSeesNothingGivesZeros) {
  Problem p{.op = "attention", .units = 16, .expect_kernel = "attention_f32"};
  p.inputs = {list({1, 1, 2, 1}, {1, 2}), list({1, 1, 2, 1}, {3, 4}), list({1, 1, 2, 1}, {5, 5}),
              list({2, 2}, {0, 0, -kInf, -kInf})};
  p.expect = {{.numbers = {5, 0}}};
  check(p);
}

TEST(Attention, PastKeysAndValues) {
  for (int64_t queries : {1, 2, 11})
    for (bool kept : {true, false}) {
      const Sizes s{2, 4, 2, queries, 9 + queries, 8, 8, 9};
      Problem p = problem(s, {{"causal", true}});
      p.inputs.push_back(absent());
      p.inputs.push_back(uniform({2, 2, 9, 8}, -1, 1, 6));
      p.inputs.push_back(uniform({2, 2, 9, 8}, -1, 1, 7));
      if (kept) p.outputs = 3;
      check(p);
    }
  Problem p = problem({1, 2, 2, 5, 5, 4, 4});
  p.outputs = 3;
  check(p);
}

TEST(Attention, LengthsOfACache) {
  Problem p = problem({3, 2, 1, 2, 12, 8, 8}, {{"causal", true}});
  p.inputs.insert(p.inputs.end(), {absent(), absent(), absent(), list({3}, {12, 2, 7}, DType::kI64)});
  check(p);
  p.inputs.back() = list({3}, {12, 13, 7}, DType::kI64);
  check_error(p, Code::kBadValue);
}

// A hidden key is capped to -1 and seen: p = 1 / (1 + e^(-1 - tanh 1)) for the other.
TEST(Attention, MaskBeforeTheCap) {
  Problem p{.op = "attention", .units = 16};
  p.inputs = {list({1, 1, 1, 1}, {1}), list({1, 1, 2, 1}, {1, 2}), list({1, 1, 2, 1}, {1, 3}), list({2}, {0, -kInf})};
  p.outputs = 4;
  const double capped = std::tanh(1.0), seen = 1 / (1 + std::exp(-1 - capped));
  const std::vector<std::vector<double>> stages = {{1, 2}, {1, -kInf}, {capped, -1}, {seen, 1 - seen}};
  for (int64_t stage = 0; stage < 4; ++stage) {
    p.attributes = {{"softcap", 1.0}, {"scale", 1.0}, {"mask_first", true}, {"scores", stage}};
    p.expect = {{.numbers = {seen + 3 * (1 - seen)}}, {}, {}, {.numbers = stages[static_cast<size_t>(stage)]}};
    check(p);
  }
  p.outputs = 1;
  p.expect.resize(1);
  check(p);
  p.attributes = {{"scale", 1.0}, {"mask_first", true}};
  p.expect = {{.numbers = {1}}};
  p.expect_kernel = "attention_f32";
  check(p);
}

// Beyond so many, keys go by in blocks. The bound is that of one block: a score's distance to the largest one is
// rounded in parts that add up to it, and a further block, which has more keys than that, adds a power and three
// roundings.
constexpr int64_t kBlock = attention::kMostBlockKeys;

// Values that grow along the keys, so that a block with a wrong weight, or a wrong sum of weights, moves the result.
Problem long_problem(const Sizes& s, std::vector<Attribute> attributes = {}) {
  Problem made = problem(s, std::move(attributes));
  const int64_t fresh = s.keys - s.past;
  std::vector<double> values;
  for (int64_t i = 0; i < s.batch * s.kv_heads * fresh * s.value_size; ++i)
    values.push_back(static_cast<double>(1 + i / s.value_size % fresh) / static_cast<double>(fresh));
  made.inputs[2] = list({s.batch, s.kv_heads, fresh, s.value_size}, values);
  return made;
}

TEST(Attention, BlocksOfKeys) {
  for (int64_t keys : {int64_t{1}, kBlock - 1, kBlock, kBlock + 1, 2 * kBlock + 37}) {
    check(long_problem({1, 2, 1, 19, keys, 8, 24}));
    check(long_problem({1, 1, 1, 2, keys, 5, 7}));
  }
}

// Scores that grow from block to block and fall again.
TEST(Attention, BlocksWithOtherLargestScores) {
  constexpr int64_t kKeys = 4 * kBlock + 3;
  for (int64_t queries : {3, 29}) {
    Problem p = long_problem({1, 1, 1, queries, kKeys, 1, 3});
    std::vector<double> keys;
    for (int64_t j = 0; j < kKeys; ++j) keys.push_back(static_cast<double>(8 - std::abs(j / kBlock - 2) * 4 + j % 5));
    p.inputs[1] = list({1, 1, kKeys, 1}, keys);
    p.terms *= 12;  // the largest score
    check(p);
    p.attributes = {{"softcap", 6.0}};
    check(p);
  }
}

TEST(Attention, WhatAQuerySeesOfBlocks) {
  constexpr int64_t kKeys = 2 * kBlock + 77;
  for (const Sizes& s : std::vector<Sizes>{{1, 1, 1, 2, kKeys, 4, 3, kBlock - 1},
                                           {1, 2, 1, 33, kKeys, 4, 3, kBlock - 16},
                                           {1, 1, 1, 170, kKeys, 4, 3, kKeys - 170}})
    for (const std::vector<Attribute>& attributes :
         std::vector<std::vector<Attribute>>{{{"causal", true}},
                                             {{"causal", true}, {"left_window", 9}},
                                             {{"left_window", kBlock + 1}, {"right_window", 3}, {"softcap", 0.5}}}) {
      Problem p = long_problem(s, attributes);
      p.inputs.insert(p.inputs.end(),
                      {absent(), uniform({1, 1, s.past, 4}, -1, 1, 6), uniform({1, 1, s.past, 3}, 0.5, 1, 7)});
      check(p);
    }
}

// Of the queries one sees everything, one not the first block, one the last key alone, one nothing.
TEST(Attention, MasksOfBlocks) {
  constexpr int64_t kKeys = 2 * kBlock + 13;
  for (int64_t queries : {3, 4, 17}) {
    Problem p = long_problem({2, 1, 1, queries, kKeys, 8, 5});
    std::vector<double> mask, shown;
    for (int64_t i = 0; i < queries; ++i)
      for (int64_t j = 0; j < kKeys; ++j) {
        const bool sees = j >= std::vector<int64_t>{kBlock, kKeys - 1, kKeys, 0}[static_cast<size_t>(i % 4)];
        mask.push_back(sees ? static_cast<double>(j % 3) : -kInf);
        shown.push_back(sees);
      }
    p.inputs.push_back(list({queries, kKeys}, mask));
    check(p);
    p.attributes = {{"zero_nan", true}};
    check(p);
    p.inputs[3] = list({queries, kKeys}, shown, DType::kBool);
    check(p);
    p.attributes = {{"causal", true}};
    check(p);
    p.inputs[3] = uniform({queries, kBlock + 1}, 0, 1, 5, DType::kBool);
    check(p);
  }
}

TEST(Attention, LengthsOfBlocks) {
  for (int64_t queries : {1, 5}) {
    Problem p = long_problem({3, 2, 1, queries, 2 * kBlock + 9, 8, 8}, {{"causal", true}});
    p.inputs.insert(p.inputs.end(),
                    {absent(), absent(), absent(), list({3}, {2 * kBlock + 1, 0, kBlock}, DType::kI64)});
    check(p);
  }
}

// NaN and infinite scores in the first block, in the last one, and in both.
TEST(Attention, SpecialValuesInBlocks) {
  constexpr int64_t kKeys = 2 * kBlock + 1;
  for (int64_t queries : {1, 5})
    for (double special : {static_cast<double>(NAN), kInf, -kInf})
      for (const std::vector<int64_t>& places : std::vector<std::vector<int64_t>>{{0}, {kKeys - 1}, {1, kBlock + 1}}) {
        Problem p = long_problem({1, 1, 1, queries, kKeys, 4, 3});
        std::vector<double> mask(kKeys);
        for (int64_t j : places) mask[static_cast<size_t>(j)] = special;
        p.inputs.push_back(list({kKeys}, mask));
        check(p);
        p.attributes = {{"zero_nan", true}};
        check(p);
      }
}

TEST(Attention, SpecialValues) {
  Problem p = problem({1, 1, 1, 2, 2, 2, 1});
  p.inputs[0] = list({1, 1, 2, 2}, {1, 2, NAN, 1});
  check(p);
  p.attributes = {{"zero_nan", true}};
  check(p);
  p.inputs[0] = list({1, 1, 2, 2}, {1, 2, kInf, 1});
  check(p);
  p.inputs[0] = list({1, 1, 2, 2}, {1, 2, 3, 1});
  p.inputs[2] = list({1, 1, 2, 1}, {kInf, 1});
  check(p);
}

}  // namespace
}  // namespace mica::suite
