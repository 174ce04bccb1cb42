// The driver of rewrite rules: applies tables of rows to a fixed point.
#pragma once
#include "ir/builder.h"
#include "ir/match.h"
#include "passes/declutter/declutter.h"

namespace mica {

// One row: `from` is looked for; `to` builds what takes its place and returns it, or null to leave it as it is. What
// `to` builds has the type of the value it replaces.
struct Rule {
  std::string_view name;  // also its off switch
  std::string_view doc;   // before → after
  Pattern from;
  Value* (*to)(const Match&, Builder&);
  // What `to` makes pays only with a kernel of its own: the row rests while this operator has none in the build.
  const OpDef* needs_kernel = nullptr;
};
using RuleTable = std::span<const Rule>;

// A file `passes/declutter/<table>.rules.cc`: found by its name, applied in the order of `rank`.
struct RuleSet {
  int rank;
  std::vector<Rule> (*make)();
  bool last = false;  // waits until the other tables have nothing left to do
};
std::span<const TableRow<RuleSet>> all_rules_tables();
#define MICA_RULES(id)                            \
  extern const ::mica::RuleSet rules_tables_##id; \
  constinit const ::mica::RuleSet rules_tables_##id

// Whether an operator maps each element by itself, wherever it stands.
bool is_unary(const OpDef& op);

// One sweep over the graph; returns how often each row fired, in the order of the table.
// Rows whose names are in `options.off` are left out.
std::vector<int64_t> apply_rules(Graph& graph, RuleTable rules, const DeclutterOptions& options);

}  // namespace mica
