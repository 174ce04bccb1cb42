#include "ir/verify.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"

namespace mica {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kShown = 5;

std::string name_of(const Node& node) {
  const std::string op(node.op ? node.op->name : "?");
  return node.name.empty() ? "a node (" + op + ")" : "node `" + node.name + "` (" + op + ")";
}
std::string name_of(const Value& value) {
  if (!value.name.empty()) return "value `" + value.name + "`";
  return value.producer ? "output " + std::to_string(value.output) + " of " + name_of(*value.producer) : "a value";
}
std::string text_of(const Type& type, const DimTable& dims) {
  String text;
  ok_or_throw(print(type, dims, text));
  return std::string(text.view());
}

// Collects what one rule finds.
class Found {
 public:
  Found(std::string_view rule, std::vector<Violation>& list) : rule_(rule), list_(list) {}
  void require(bool holds, const auto& where, std::string_view what) {
    if (!holds) list_.push_back({rule_, name_of(where), std::string(what)});
  }
  void graph(bool holds, std::string_view what) {
    if (!holds) list_.push_back({rule_, "the graph", std::string(what)});
  }

 private:
  std::string_view rule_;
  std::vector<Violation>& list_;
};

// Every value that the graph's interface or nodes mention, once.
std::vector<const Value*> mentioned(const Graph& graph) {
  std::vector<const Value*> values;
  std::unordered_set<const Value*> seen;
  const auto add = [&](const std::vector<Value*>& list) {
    for (const Value* value : list)
      if (value && seen.insert(value).second) values.push_back(value);
  };
  add(graph.inputs);
  for (const auto& node : graph.nodes) {
    add(node->inputs);
    add(node->outputs);
  }
  add(graph.outputs);
  return values;
}

void check_nodes(const Graph& graph, std::vector<Violation>& list) {
  Found found("nodes", list);
  found.graph(graph.dims != nullptr, "there is no table of dimensions");
  for (const auto& node : graph.nodes) {
    if (!node) {
      found.graph(false, "a node is null");
      continue;
    }
    found.require(node->op != nullptr, *node, "has no operator");
    for (const auto& region : node->regions) found.require(region != nullptr, *node, "has a region that is null");
  }
}

void check_ownership(const Graph& graph, std::vector<Violation>& list) {
  Found found("ownership", list);
  std::unordered_set<const Value*> pool;
  for (const Value& value : graph.value_pool) pool.insert(&value);
  const auto own = [&](const Value* value) { return !value || pool.contains(value); };
  for (const auto& node : graph.nodes) {
    found.require(std::ranges::all_of(node->inputs, own), *node, "takes a value of another graph");
    found.require(std::ranges::all_of(node->outputs, own), *node, "makes a value of another graph");
  }
  found.graph(std::ranges::all_of(graph.inputs, own), "an input is a value of another graph");
  found.graph(std::ranges::all_of(graph.outputs, own), "an output is a value of another graph");
}

bool fits(size_t n, Count count) {
  return static_cast<int>(n) >= count.min && (count.max == kAnyNumber || static_cast<int>(n) <= count.max);
}

void check_arity(const Graph& graph, std::vector<Violation>& list) {
  Found found("arity", list);
  for (const auto& node : graph.nodes) {
    const OpDef& op = *node->op;
    found.require(fits(node->inputs.size(), op.inputs), *node,
                  "has " + std::to_string(node->inputs.size()) + " inputs");
    found.require(fits(node->outputs.size(), op.outputs), *node,
                  "has " + std::to_string(node->outputs.size()) + " outputs");
    for (size_t i = 0; i < std::min(node->inputs.size(), static_cast<size_t>(op.inputs.min)); ++i)
      found.require(node->inputs[i] != nullptr, *node, "leaves out its input " + std::to_string(i));
    found.require(std::ssize(node->regions) == op.regions, *node,
                  "has " + std::to_string(node->regions.size()) + " regions");
  }
}

void check_attributes(const Graph& graph, std::vector<Violation>& list) {
  Found found("attributes", list);
  for (const auto& node : graph.nodes)
    found.require(node->attributes_blob.size() == node->op->attributes.bytes, *node,
                  "has " + std::to_string(node->attributes_blob.size()) + " bytes of attributes");
}

void check_producers(const Graph& graph, std::vector<Violation>& list) {
  Found found("producers", list);
  std::unordered_set<const Value*> made;
  for (const auto& node : graph.nodes)
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      const Value* value = node->outputs[i];
      if (!value) continue;
      found.require(value->producer == node.get() && value->output == static_cast<int>(i), *value,
                    "does not know its producer");
      found.require(made.insert(value).second, *value, "is made twice");
      found.require(!value->constant, *value, "is made by a node and constant");
    }
  for (const Value* value : mentioned(graph))
    found.require(!value->producer || made.contains(value), *value, "has a producer that is not in the graph");
  for (const Value* value : graph.inputs)
    if (value) found.require(value->is_input(), *value, "is an input, and made inside the graph");
}

void check_order(const Graph& graph, std::vector<Violation>& list) {
  Found found("order", list);
  std::unordered_set<const Value*> ready(graph.inputs.begin(), graph.inputs.end());
  const auto known = [&](const Value* value) { return !value || value->constant || ready.contains(value); };
  for (const auto& node : graph.nodes) {
    for (const Value* value : node->inputs)
      if (!known(value)) found.require(false, *node, "uses " + name_of(*value) + ", which does not stand before it");
    ready.insert(node->outputs.begin(), node->outputs.end());
  }
  for (const Value* value : graph.outputs)
    if (value) found.require(known(value), *value, "is an output that nothing makes");
}

void check_interface(const Graph& graph, std::vector<Violation>& list) {
  Found found("interface", list);
  const auto unique = [](std::vector<std::string> names) {
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) == names.end();
  };
  const auto null = [](const Value* value) { return value == nullptr; };
  found.graph(std::ranges::none_of(graph.inputs, null), "an input is null");
  found.graph(std::ranges::none_of(graph.outputs, null), "an output is null");
  found.graph(graph.inputs.size() == graph.input_names.size(), "inputs and their names differ in number");
  found.graph(graph.outputs.size() == graph.output_names.size(), "outputs and their names differ in number");
  found.graph(unique(graph.input_names), "two inputs have one name");
  found.graph(unique(graph.output_names), "two outputs have one name");
  found.graph(std::set(graph.inputs.begin(), graph.inputs.end()).size() == graph.inputs.size(),
              "one value is two inputs");
  std::set<int> fed;
  for (const Graph::State& state : graph.states) {
    const bool inside = state.input >= 0 && state.input < std::ssize(graph.inputs) && state.output >= 0 &&
                        state.output < std::ssize(graph.outputs);
    found.graph(inside, "a state names an input or output that does not exist");
    found.graph(fed.insert(state.input).second, "two outputs are the state of one input");
    if (!inside) continue;
    const Type &from = graph.outputs[static_cast<size_t>(state.output)]->type,
               &to = graph.inputs[static_cast<size_t>(state.input)]->type;
    found.graph(from.kind == to.kind && from.dtype == to.dtype, "a state's output and input have different types");
  }
}

void check_types(const Graph& graph, std::vector<Violation>& list) {
  Found found("types", list);
  for (const Value* value : mentioned(graph)) {
    const Type& type = value->type;
    found.require(type.dtype != DType::kNone || type.kind == Kind::kOptional || type.kind == Kind::kSequence, *value,
                  "has no element type");
    found.require(type.shape.rank <= kMaxRank, *value, "has too many dimensions");
  }
}

void check_dims(const Graph& graph, std::vector<Violation>& list) {
  Found found("dimensions", list);
  const auto own = [&](Dim d) { return d.is_fixed() || d.id() < graph.dims->expressions(); };
  for (const Value* value : mentioned(graph)) {
    found.require(std::ranges::all_of(value->type.shape.span(), own), *value, "has a dimension of another table");
    found.require(std::ranges::all_of(value->values, own), *value, "has an element of another table");
    const auto negative = [](Dim d) { return d.is_fixed() && d.value() < 0; };
    found.require(std::ranges::none_of(value->type.shape.span(), negative), *value, "has a negative dimension");
  }
}

bool same_shape(const TensorView& view, const Type& type) {
  return type.is_tensor() && view.dtype == type.dtype && type.shape.known() && view.to_shape() == type.shape;
}

void check_contents(const Graph& graph, std::vector<Violation>& list) {
  Found found("contents", list);
  for (const Value* value : mentioned(graph)) {
    if (const TensorView* view = value->contents()) {
      found.require(same_shape(*view, value->type), *value,
                    "has contents of another type: " + text_of(value->type, *graph.dims));
      found.require(view->empty() || view->data, *value, "has no contents");
      if (value->constant) found.require(view->contiguous(), *value, "is a constant with gaps");
    }
    if (!value->has_values) continue;
    const Result<int64_t> count = element_count(value->type.shape);
    found.require(count.ok() && *count == std::ssize(value->values), *value,
                  "has known elements of another number than its shape");
  }
}

void check_regions(const Graph& graph, std::vector<Violation>& list) {
  Found found("regions", list);
  for (const auto& node : graph.nodes)
    for (const auto& region : node->regions) {
      found.require(region->dims == graph.dims, *node, "has a region with a table of dimensions of its own");
      found.require(region->states.empty(), *node, "has a region with state");
    }
}

// What is stored may know more than inference finds (a source's declaration), but nothing else.
bool refines(const Type& stored, const Type& inferred, const DimTable& dims) {
  if (inferred.dtype == DType::kNone) return true;
  if (stored.kind != inferred.kind || stored.of != inferred.of || stored.dtype != inferred.dtype ||
      stored.key != inferred.key)
    return false;
  if (!inferred.shape.known()) return true;
  if (stored.shape.rank != inferred.shape.rank) return false;
  for (int i = 0; i < inferred.shape.rank; ++i)
    if (stored.shape[i] != inferred.shape[i] && !dims.depends_on(inferred.shape[i], SymbolKind::kData)) return false;
  return true;
}

void check_inference(const Graph& graph, std::vector<Violation>& list) {
  Found found("inference", list);
  const auto trial = clone(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = *trial->nodes[i];
    try {
      infer_node(*trial, node);
    } catch (const Failure& failure) {
      if (failure.error->code() == Code::kOutOfMemory) throw;  // says nothing of the graph
      return found.require(false, *graph.nodes[i], failure.error->what());
    }
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k]) continue;
      const Type &stored = graph.nodes[i]->outputs[k]->type, &inferred = node.outputs[k]->type;
      found.require(refines(stored, inferred, *graph.dims), *graph.nodes[i]->outputs[k],
                    "is " + text_of(stored, *graph.dims) + ", inferred " + text_of(inferred, *graph.dims));
      node.outputs[k]->type = stored;
    }
  }
}

constexpr VerifyRule kRules[] = {
    {"nodes", "every node has an operator, and its regions are there", check_nodes},
    {"ownership",
     "a node and the interface mention values of their own graph only; what a region uses comes in through inputs",
     check_ownership},
    {"arity", "a node has as many inputs, outputs and regions as its operator takes, and no required input is left out",
     check_arity},
    {"attributes", "a node's attributes are its operator's", check_attributes},
    {"producers", "a value is an input, a constant, or made once, by the node that it names as its producer",
     check_producers},
    {"order", "a node stands behind those that make what it uses, and something makes every output", check_order},
    {"interface", "inputs, outputs and states exist, have one name each, and states keep their types", check_interface},
    {"types", "every value has a type", check_types},
    {"dimensions", "dimensions are not negative, and expressions belong to the graph's table", check_dims},
    {"contents", "what is known of a value's contents has the value's type", check_contents},
    {"regions", "a region shares the table of dimensions and has no state of its own", check_regions},
    {"inference", "types are those that inference finds, or know more", check_inference},
};

void check_everywhere(const VerifyRule& rule, const Graph& graph, int depth, std::vector<Violation>& found) {
  rule.check(graph, found);
  if (!found.empty() || depth >= kMaxDepth) return;
  for (const auto& node : graph.nodes)
    for (const auto& region : node->regions) check_everywhere(rule, *region, depth + 1, found);
}

}  // namespace

std::span<const VerifyRule> verify_rules() { return kRules; }

std::vector<Violation> violations(const Graph& graph) {
  std::vector<Violation> found;
  for (const VerifyRule& rule : kRules) {
    check_everywhere(rule, graph, 0, found);
    if (!found.empty()) break;
  }
  return found;
}

Status verify(const Graph& graph, std::string_view stage) {
  try {
    const std::vector<Violation> found = violations(graph);
    if (found.empty()) return {};
    std::string text = "the graph breaks the rule `" + std::string(found[0].rule) + "`";
    for (size_t i = 0; i < std::min(found.size(), kShown); ++i)
      text += (i ? "; " : ": ") + found[i].where + " " + found[i].what;
    if (found.size() > kShown) text += "; and " + std::to_string(found.size() - kShown) + " more";
    return Error(Code::kInternal, text, stage);
  } catch (const Failure& failure) {
    return failure.error->copy();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace mica
