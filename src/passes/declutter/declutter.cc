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
  bool last;
};

// Made once: for a small model making them costs more than applying them.
std::span<const Table> all_tables() {
  static const std::vector<Table> tables = [] {
    std::vector<Table> made;
    for (const auto& row : all_rules_tables())
      made.push_back({row.name, row.definition->make(), row.definition->rank, row.definition->last});
    std::ranges::stable_sort(made, {}, &Table::rank);
    return made;
  }();
  return tables;
}

// How often each pass and each row of the tables fired, in their order.
class Counter {
 public:
  Counter() : passes_(simplify_passes().size()) {
    for (const Table& table : all_tables()) rows_.emplace_back(table.rules.size());
  }
  void add_pass(size_t pass, int64_t fired) { passes_[pass] += fired; }
  int64_t add_table(size_t table, std::span<const int64_t> fired) {
    int64_t sum = 0;
    for (size_t i = 0; i < fired.size(); ++i) {
      rows_[table][i] += fired[i];
      sum += fired[i];
    }
    return sum;
  }
  // A rule may have a row for each of several operators: they follow each other.
  RuleCounts by_name() const {
    RuleCounts counts;
    for (size_t i = 0; i < passes_.size(); ++i) counts.emplace_back(simplify_passes()[i].name, passes_[i]);
    for (size_t t = 0; t < rows_.size(); ++t)
      for (size_t i = 0; i < rows_[t].size(); ++i) {
        const std::string_view name = all_tables()[t].rules[i].name;
        const auto row = std::ranges::find(counts, name, &RuleCounts::value_type::first);
        if (row != counts.end())
          row->second += rows_[t][i];
        else
          counts.emplace_back(name, rows_[t][i]);
      }
    return counts;
  }

 private:
  std::vector<int64_t> passes_;
  std::vector<std::vector<int64_t>> rows_;
};

void check(const Graph& graph, std::string_view after, const DeclutterOptions& options) {
  if (options.verify) ok_or_throw(verify(graph, after));
}

// One round of everything, or of everything but the last tables; the number of changes.
int64_t round(Graph& graph, const DeclutterOptions& options, Counter& counter, bool last) {
  int64_t changes = 0;
  const auto passes = simplify_passes();
  for (size_t i = 0; i < passes.size(); ++i) {
    if (options.off.contains(passes[i].name)) continue;
    const int64_t fired = passes[i].run(graph, options);
    counter.add_pass(i, fired);
    changes += fired;
    if (fired) check(graph, passes[i].name, options);
  }
  const auto tables = all_tables();
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].last && !last) continue;
    const int64_t fired = counter.add_table(i, apply_rules(graph, tables[i].rules, options));
    changes += fired;
    if (fired) {
      remove_dead(graph);
      infer_again(graph);
      check(graph, tables[i].name, options);
    }
  }
  return changes;
}

void declutter_graph(Graph& graph, const DeclutterOptions& options, Counter& counter) {
  for (bool last : {false, true})
    for (int i = 0; i < kMaxRounds && round(graph, options, counter, last) > 0; ++i) {
    }
  for (const auto& node : graph.nodes)
    for (const auto& region : node->regions) declutter_graph(*region, options, counter);
}

}  // namespace

std::vector<RuleInfo> all_rules() {
  std::vector<RuleInfo> list;
  for (const SimplifyPass& pass : simplify_passes()) list.push_back({pass.name, "simplify", pass.doc});
  for (const Table& table : all_tables())
    for (const Rule& rule : table.rules)  // a rule may have a row for each of several operators
      if (std::ranges::find(list, rule.name, &RuleInfo::name) == list.end())
        list.push_back({rule.name, table.name, rule.doc});
  return list;
}

namespace {

// Weights may pass through several operators; a small model makes no large work of it.
int64_t constant_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Value& value : graph.value_pool)
    if (value.constant) bytes += row_bytes(value.type.dtype, value.constant->view.count());
  return bytes;
}

}  // namespace

RuleCounts declutter(Graph& graph, const DeclutterOptions& options) {
  Counter counter;
  FoldBudget left = options.fold;
  const int64_t bytes = std::min(constant_bytes(graph), int64_t{1} << 40);
  left.total += left.passes * bytes;
  left.flops += left.flops_per_byte * bytes;
  DeclutterOptions counted = options;
  counted.fold_left = &left;
  check(graph, "import", counted);
  declutter_graph(graph, counted, counter);
  return counter.by_name();
}

}  // namespace mica
