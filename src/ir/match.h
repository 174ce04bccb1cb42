// Patterns over graphs, written as expressions:
//
//   Node batch_norm over conv:  is(op_batch_norm, {is(op_conv, {any("x"), constant("w"),
//   maybe("b")}).once().as("conv"), constant("s")})
//
// A pattern describes the node that makes a value and, through its inputs, what is above it.
#pragma once
#include <map>

#include "ir/graph.h"

namespace mica {

struct Pattern {
  enum class Kind : uint8_t { kAny, kConstant, kMaybe, kOp };
  Kind kind = Kind::kAny;
  const OpDef* op = nullptr;
  std::string name;             // the same name twice means the same value
  std::vector<Pattern> inputs;  // of kOp: the first ones of the node's; more are allowed only when `open`
  bool single = false;          // the value has no other reader
  bool parts_single = false;    // of kOp: nor has any input of the node
  bool commutes = false;        // two inputs in either order
  bool open = false;
  bool (*accepts)(const Node&) = nullptr;

  Pattern once() const {
    Pattern p = *this;
    p.single = true;
    return p;
  }
  Pattern parts_once() const {
    Pattern p = *this;
    p.parts_single = true;
    return p;
  }
  Pattern as(std::string n) const {
    Pattern p = *this;
    p.name = std::move(n);
    return p;
  }
  Pattern either() const {
    Pattern p = *this;
    p.commutes = true;
    return p;
  }
  Pattern rest() const {
    Pattern p = *this;
    p.open = true;
    return p;
  }
  Pattern where(bool (*f)(const Node&)) const {
    Pattern p = *this;
    p.accepts = f;
    return p;
  }
};
inline Pattern operand(Pattern::Kind kind, std::string name) {
  Pattern p;
  p.kind = kind;
  p.name = std::move(name);
  return p;
}
inline Pattern any(std::string name) { return operand(Pattern::Kind::kAny, std::move(name)); }
inline Pattern constant(std::string name) { return operand(Pattern::Kind::kConstant, std::move(name)); }
inline Pattern maybe(std::string name) { return operand(Pattern::Kind::kMaybe, std::move(name)); }  // also left out
inline Pattern is(const OpDef& op, std::vector<Pattern> inputs) {
  Pattern p = operand(Pattern::Kind::kOp, {});
  p.op = &op;
  p.inputs = std::move(inputs);
  return p;
}

// Who reads each value.
class Readers {
 public:
  explicit Readers(const Graph& graph);
  size_t count(const Value* value) const;  // reads by nodes and as outputs of the graph
  std::span<Node* const> nodes(const Value* value) const;
  bool kept(const Value* value) const { return kept_.contains(value->name); }
  void add(Node& node);
  void move(Value* from, Value* to);  // all of from's readers read `to` now (the nodes' inputs are changed too)

 private:
  std::map<const Value*, std::vector<Node*>> readers_;
  std::map<const Value*, size_t> ports_;
  std::map<std::string, bool, std::less<>> kept_;
};

// What a pattern's names stand for; null for a `maybe` that was left out.
class Match {
 public:
  Value* operator[](std::string_view name) const;
  const Node& node(std::string_view name) const { return *(*this)[name]->producer; }
  bool has(std::string_view name) const { return (*this)[name] != nullptr; }
  Node* root = nullptr;
  const Readers* readers = nullptr;  // of the graph as it was matched
  std::map<std::string, Value*, std::less<>> values;
};

// True when output 0 of `root` fits; fills `match`.
bool match(const Pattern& pattern, Node& root, const Readers& readers, Match& found);

}  // namespace mica
