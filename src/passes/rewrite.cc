#include "passes/rewrite.h"

#include <algorithm>

#include "step/run.h"

namespace mica {
namespace {

bool is_on(const Rule& rule, const DeclutterOptions& options) {
  const bool pays = !rule.needs_kernel || options.without_kernels || find_run(*rule.needs_kernel);
  return pays && !options.off.contains(rule.name);
}

bool has_root(const Graph& graph, RuleTable rules) {
  return std::ranges::any_of(graph.nodes, [&](const auto& node) {
    return std::ranges::any_of(rules, [&](const Rule& rule) { return rule.from.op == node->op; });
  });
}

bool contradicts(const Shape& a, const Shape& b) {
  if (!a.known() || !b.known()) return false;
  bool differs = a.rank != b.rank;
  for (int i = 0; i < a.rank && !differs; ++i) differs = a[i].is_fixed() && b[i].is_fixed() && a[i] != b[i];
  return differs;
}

class Sweep {
 public:
  Sweep(Graph& graph, RuleTable rules, const DeclutterOptions& options)
      : graph_(graph), rules_(rules), options_(options), builder_(graph), readers_(graph), counts_(rules.size()) {}
  std::vector<int64_t> run() {
    for (position_ = 0; position_ < graph_.nodes.size(); ++position_) {
      Node& node = *graph_.nodes[position_];
      if (node.outputs.empty() || !node.outputs[0] || readers_.count(node.outputs[0]) == 0) continue;
      for (size_t i = 0; i < rules_.size(); ++i)
        if (rules_[i].from.op == node.op && is_on(rules_[i], options_) && fire(rules_[i], node)) {
          ++counts_[i];
          break;
        }
    }
    return counts_;
  }

 private:
  bool fire(const Rule& rule, Node& node) {
    Match found;
    if (!match(rule.from, node, readers_, found)) return false;
    found.readers = &readers_;
    Value* old = node.outputs[0];
    const size_t before = graph_.nodes.size();
    builder_.set_name(node.name);
    builder_.insert_at(position_);
    Value* fresh = rule.to(found, builder_);
    const auto made = static_cast<ptrdiff_t>(graph_.nodes.size() - before);
    const auto first = graph_.nodes.begin() + static_cast<ptrdiff_t>(position_);
    // What it made meanwhile is not needed. Of another shape: the rule has overlooked something of this graph.
    if (!fresh || fresh == old || contradicts(fresh->type.shape, old->type.shape)) {
      graph_.nodes.erase(first, first + made);
      return false;
    }
    for (ptrdiff_t i = 0; i < made; ++i) readers_.add(*first[i]);
    position_ += static_cast<size_t>(made);
    if (fresh->name.empty()) fresh->name = old->name;  // what a person would look for
    readers_.move(old, fresh);
    std::ranges::replace(graph_.outputs, old, fresh);
    return true;
  }

  Graph& graph_;
  RuleTable rules_;
  const DeclutterOptions& options_;
  Builder builder_;
  Readers readers_;
  std::vector<int64_t> counts_;
  size_t position_ = 0;
};

}  // namespace

bool is_unary(const OpDef& op) {
  return op.pointwise != Pointwise::kNone && op.inputs.min == 1 && op.inputs.max == 1 && op.outputs.max == 1 &&
         op.layout == LayoutRule::kAny;
}

std::vector<int64_t> apply_rules(Graph& graph, RuleTable rules, const DeclutterOptions& options) {
  if (!has_root(graph, rules)) return std::vector<int64_t>(rules.size());
  return Sweep(graph, rules, options).run();
}

}  // namespace mica
