// Brings a graph to its simplest portable form by tables of rules, to a fixed point, verified after each table.
#pragma once
#include <set>
#include <string>

#include "ir/graph.h"

namespace mica {

// What constant folding may take over a whole conversion, with all rounds and regions. The file grows by its bytes, by
// which results outgrow the constants whose place they take; the references, which compute in double precision, do some
// hundred million operations in a second.
struct FoldBudget {
  int64_t bytes = int64_t{256} << 20;  // beyond the constants that nothing reads any more
  int64_t total = int64_t{256} << 20;  // of all results, and as much again as `passes` times the model's own constants
  int64_t passes = 8;
  int64_t flops = int64_t{1} << 30;  // of what has more arithmetic than results, and for each byte of the constants
  int64_t flops_per_byte = 64;       // as many: a table of 512 positions through two products in each layer
};

struct DeclutterOptions {
  std::set<std::string, std::less<>> off;  // names of rules that must not fire
  bool verify = true;                      // run the verifier behind each table
  bool without_kernels = false;            // also make operators that this build computes by their reference only
  FoldBudget fold;
  FoldBudget* fold_left = nullptr;  // what is left of it; `declutter` sets it
};

using RuleCounts = std::vector<std::pair<std::string, int64_t>>;  // in the order of the tables

// Throws Failure (kInternal naming the rule that broke the graph). Regions are decluttered too.
RuleCounts declutter(Graph& graph, const DeclutterOptions& options = {});

struct RuleInfo {
  std::string_view name, table, doc;
};
std::vector<RuleInfo> all_rules();

}  // namespace mica
