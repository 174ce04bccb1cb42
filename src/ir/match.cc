#include "ir/match.h"

#include <algorithm>

namespace mica {
namespace {

bool match_value(const Pattern& pattern, Value* value, const Readers& readers, Match& found, bool is_root);

bool is_single(const Value* value, const Readers& readers) {
  return value && readers.count(value) == 1 && !readers.kept(value);
}

bool match_inputs(const Pattern& pattern, const Node& node, const Readers& readers, Match& found, bool swapped) {
  if (node.inputs.size() > pattern.inputs.size() && !pattern.open) return false;
  Match attempt = found;
  for (size_t i = 0; i < pattern.inputs.size(); ++i) {
    const size_t from = swapped && i < 2 ? 1 - i : i;
    Value* input = from < node.inputs.size() ? node.inputs[from] : nullptr;
    if (!match_value(pattern.inputs[i], input, readers, attempt, false)) return false;
  }
  found = std::move(attempt);
  return true;
}

bool match_node(const Pattern& pattern, Value* value, const Readers& readers, Match& found) {
  const Node* node = value->producer;
  if (!node || node->op != pattern.op || value->output != 0) return false;
  if (pattern.accepts && !pattern.accepts(*node)) return false;
  if (pattern.parts_single && !std::ranges::all_of(node->inputs, [&](Value* v) { return is_single(v, readers); }))
    return false;
  if (match_inputs(pattern, *node, readers, found, false)) return true;
  return pattern.commutes && node->inputs.size() >= 2 && match_inputs(pattern, *node, readers, found, true);
}

bool match_value(const Pattern& pattern, Value* value, const Readers& readers, Match& found, bool is_root) {
  if (!value) {
    if (pattern.kind == Pattern::Kind::kMaybe) found.values[pattern.name] = nullptr;
    return pattern.kind == Pattern::Kind::kMaybe;
  }
  if (pattern.single && !is_root && !is_single(value, readers)) return false;
  if (pattern.kind == Pattern::Kind::kConstant && !value->is_constant()) return false;
  if (!pattern.name.empty()) {
    const auto [it, fresh] = found.values.try_emplace(pattern.name, value);
    if (!fresh && it->second != value) return false;
  }
  return pattern.kind != Pattern::Kind::kOp || match_node(pattern, value, readers, found);
}

}  // namespace

Readers::Readers(const Graph& graph) {
  for (const auto& node : graph.nodes) add(*node);
  for (const Value* v : graph.outputs) ++ports_[v];
  for (const std::string& name : graph.keep) kept_[name] = true;
}

void Readers::add(Node& node) {
  for (const Value* v : node.inputs)
    if (v) readers_[v].push_back(&node);
}

size_t Readers::count(const Value* value) const {
  const auto ports = ports_.find(value);
  return nodes(value).size() + (ports == ports_.end() ? 0 : ports->second);
}

std::span<Node* const> Readers::nodes(const Value* value) const {
  const auto found = readers_.find(value);
  return found == readers_.end() ? std::span<Node* const>() : std::span<Node* const>(found->second);
}

void Readers::move(Value* from, Value* to) {
  std::vector<Node*> moved = std::move(readers_[from]);
  readers_.erase(from);
  for (Node* node : moved) std::ranges::replace(node->inputs, from, to);
  auto& list = readers_[to];
  list.insert(list.end(), moved.begin(), moved.end());
  if (const auto ports = ports_.extract(from)) ports_[to] += ports.mapped();
}

Value* Match::operator[](std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? nullptr : found->second;
}

bool match(const Pattern& pattern, Node& root, const Readers& readers, Match& found) {
  if (root.op != pattern.op || root.outputs.empty() || !root.outputs[0]) return false;
  found = {};
  found.root = &root;
  return match_value(pattern, root.outputs[0], readers, found, true);
}

}  // namespace mica
