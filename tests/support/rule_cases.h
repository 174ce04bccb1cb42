// What rules do, in IR text: for each rule at least one graph before and after.
#pragma once
#include <string>
#include <vector>

#include "passes/declutter/declutter.h"

namespace mica::support {

struct RuleCase {
  std::string rule;
  std::string given;   // inputs and constants of both graphs
  std::string before;  // statements that make %y
  std::string after;   // the same, or the name alone of the value that takes its place
  // Rounding errors of the largest result that computing may differ by: each of the few operations of a case rounds
  // once, on numbers at most a few times larger than the result, over sums of at most 32 terms.
  double units = 128;
};

std::vector<RuleCase> cleanup_cases();
std::vector<RuleCase> region_cases();
std::vector<RuleCase> arithmetic_cases();
std::vector<RuleCase> composite_cases();
std::vector<RuleCase> norm_cases();
std::vector<RuleCase> block_cases();  // shuffles, concatenations, products
std::vector<RuleCase> attention_cases();
std::vector<RuleCase> weight_cases();
std::vector<RuleCase> pixel_cases();
std::vector<RuleCase> primitive_cases();
std::vector<RuleCase> product_cases();  // and what is taken of their results
std::vector<RuleCase> all_cases();

// A graph of these statements; "# with ..." lines behind them are constants of the graph after.
std::string graph_of(const std::string& given, const std::string& statements);
// All rules off but this one, which also makes what has no kernel.
DeclutterOptions only(const std::string& rule);

}  // namespace mica::support
