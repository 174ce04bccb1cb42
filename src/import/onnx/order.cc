#include "import/onnx/order.h"

#include <queue>
#include <set>
#include <string_view>

namespace mica::onnx {
namespace {

class Order {
 public:
  Order(const NodeList& nodes, FreeNames& free_names)
      : nodes_(nodes), inputs_(static_cast<size_t>(nodes.size())), state_(inputs_.size()) {
    for (int i = 0; i < nodes.size(); ++i)
      for (const std::string& output : nodes[i].output())
        if (!output.empty() && !producer_.emplace(output, i).second)
          fail(Code::kBadModel, "two nodes make the value `{}`", output);
    for (int i = 0; i < nodes.size(); ++i)
      for (const std::string& name : free_names.of(nodes[i]))
        if (const auto found = producer_.find(name); found != producer_.end())
          inputs_[static_cast<size_t>(i)].push_back(found->second);
  }

  std::vector<int> run(const std::vector<std::string>& wanted) {
    for (const std::string& name : wanted)
      if (const auto found = producer_.find(name); found != producer_.end()) need(found->second);
    return sort();
  }

 private:
  struct State {
    bool needed = false;
    int open = 0;
  };

  void need(int node) {
    std::vector<int> stack{node};
    while (!stack.empty()) {
      const int next = stack.back();
      stack.pop_back();
      State& state = state_[static_cast<size_t>(next)];
      if (state.needed) continue;
      state.needed = true;
      stack.insert(stack.end(), inputs_[static_cast<size_t>(next)].begin(), inputs_[static_cast<size_t>(next)].end());
    }
  }

  // Takes the earliest node of the list whose producers are all done.
  std::vector<int> sort() {
    std::vector<std::vector<int>> users(inputs_.size());
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    size_t needed = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!state_[i].needed) continue;
      ++needed;
      state_[i].open = static_cast<int>(inputs_[i].size());
      for (int producer : inputs_[i]) users[static_cast<size_t>(producer)].push_back(static_cast<int>(i));
      if (inputs_[i].empty()) ready.push(static_cast<int>(i));
    }
    std::vector<int> order;
    while (!ready.empty()) {
      const int next = ready.top();
      ready.pop();
      order.push_back(next);
      for (int user : users[static_cast<size_t>(next)])
        if (--state_[static_cast<size_t>(user)].open == 0) ready.push(user);
    }
    if (order.size() != needed)
      for (size_t i = 0; i < state_.size(); ++i)
        if (state_[i].needed && state_[i].open > 0) {
          const pb::Node& node = nodes_[static_cast<int>(i)];
          fail(Code::kBadModel, "nodes need each other in a circle, near the node `{}` ({})", node.name(),
               node.op_type());
        }
    return order;
  }

  const NodeList& nodes_;
  std::vector<std::vector<int>> inputs_;
  std::vector<State> state_;
  std::unordered_map<std::string_view, int> producer_;
};

}  // namespace

std::vector<std::string> FreeNames::of(const pb::Node& node) {
  std::vector<std::string> names;
  for (const std::string& input : node.input())
    if (!input.empty()) names.push_back(input);
  const auto add = [&](const pb::Graph& graph) {
    const auto& inner = of(graph);
    names.insert(names.end(), inner.begin(), inner.end());
  };
  for (const pb::Attribute& attribute : node.attribute()) {
    if (attribute.has_g()) add(attribute.g());
    for (const pb::Graph& graph : attribute.graphs()) add(graph);
  }
  return names;
}

const std::vector<std::string>& FreeNames::of(const pb::Graph& graph) {
  if (const auto known = known_.find(&graph); known != known_.end()) return known->second;
  std::set<std::string, std::less<>> defined;
  for (const auto& value : graph.input()) defined.insert(value.name());
  for (const auto& tensor : graph.initializer()) defined.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) defined.insert(tensor.values().name());
  for (const auto& node : graph.node()) defined.insert(node.output().begin(), node.output().end());
  std::vector<std::string> names;
  const auto use = [&](const std::string& name) {
    if (!name.empty() && defined.insert(name).second) names.push_back(name);
  };
  for (const auto& node : graph.node())
    for (const std::string& name : of(node)) use(name);
  for (const auto& value : graph.output()) use(value.name());
  return known_[&graph] = std::move(names);
}

std::vector<int> dependency_order(const NodeList& nodes, const std::vector<std::string>& wanted,
                                  FreeNames& free_names) {
  return Order(nodes, free_names).run(wanted);
}

}  // namespace mica::onnx
