#include <gtest/gtest.h>

#include <cmath>

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
