#include "passes/declutter/declutter.h"

#include <algorithm>

#include "ir/verify.h"
#include "passes/declutter/simplify.h"
#include "passes/rewrite.h"

namespace mica {
namespace {

constexpr int kMaxRounds = 24;  // each round is at least one rewrite; real models settle within six

struct Table {
  std::string_view name;
  std::vector<Rule> rules;
  int rank;
};

std::vector<Table> make_tables() {
  std::vector<Table> tables;
  for (const auto& row : all_rules_tables()) tables.push_back({row.name, row.definition->make(), row.definition->rank});
  std::ranges::stable_sort(tables, {}, &Table::rank);
  return tables;
}

void add_count(RuleCounts& counts, std::string_view name, int64_t fired) {
  const auto row = std::ranges::find(counts, name, &RuleCounts::value_type::first);
  if (row != counts.end())
    row->second += fired;
  else
    counts.emplace_back(name, fired);
}

void check(const Graph& graph, std::string_view after, const DeclutterOptions& options) {
  if (options.verify) ok_or_throw(verify(graph, after));
}

// One round of everything; the number of changes.
int64_t round(Graph& graph, std::span<const Table> tables, const DeclutterOptions& options, RuleCounts& counts) {
  int64_t changes = 0;
  for (const SimplifyPass& pass : simplify_passes()) {
    if (options.off.contains(pass.name)) continue;
    const int64_t fired = pass.run(graph, options);
    add_count(counts, pass.name, fired);
    changes += fired;
    if (fired) check(graph, pass.name, options);
  }
  for (const Table& table : tables) {
    const std::vector<int64_t> fired = apply_rules(graph, table.rules, options);
    int64_t sum = 0;
    for (size_t i = 0; i < fired.size(); ++i) {
      add_count(counts, table.rules[i].name, fired[i]);
      sum += fired[i];
    }
    changes += sum;
    if (sum) {
      remove_dead(graph);
      infer_again(graph);
      check(graph, table.name, options);
    }
  }
  return changes;
}

void declutter_graph(Graph& graph, std::span<const Table> tables, const DeclutterOptions& options, RuleCounts& counts) {
  for (int i = 0; i < kMaxRounds && round(graph, tables, options, counts) > 0; ++i) {
  }
  for (const auto& node : graph.nodes)
    for (const auto& region : node->regions) declutter_graph(*region, tables, options, counts);
}

}  // namespace

std::vector<RuleInfo> all_rules() {
  std::vector<RuleInfo> list;
  for (const SimplifyPass& pass : simplify_passes()) list.push_back({pass.name, "simplify", pass.doc});
  for (const auto& row : all_rules_tables())
    for (const Rule& rule : row.definition->make())  // a rule may have a row for each of several operators
      if (std::ranges::find(list, rule.name, &RuleInfo::name) == list.end())
        list.push_back({rule.name, row.name, rule.doc});
  return list;
}

RuleCounts declutter(Graph& graph, const DeclutterOptions& options) {
  RuleCounts counts;
  check(graph, "import", options);
  declutter_graph(graph, make_tables(), options, counts);
  return counts;
}

}  // namespace mica
