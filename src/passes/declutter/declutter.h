// Brings a graph to its simplest portable form by tables of rules, to a fixed point, verified after each table.
#pragma once
#include <set>
#include <string>

#include "ir/graph.h"

namespace mica {

struct DeclutterOptions {
  std::set<std::string, std::less<>> off;  // names of rules that must not fire
  bool verify = true;                      // run the verifier behind each table
  bool without_kernels = false;            // also make operators that this build computes by their reference only
  int64_t max_fold_bytes = 256 << 20;      // results of constant folding, in all
};

using RuleCounts = std::vector<std::pair<std::string, int64_t>>;  // in the order of the tables

// Throws Failure (kInternal naming the rule that broke the graph). Regions are decluttered too.
RuleCounts declutter(Graph& graph, const DeclutterOptions& options = {});

struct RuleInfo {
  std::string_view name, table, doc;
};
std::vector<RuleInfo> all_rules();

}  // namespace mica
