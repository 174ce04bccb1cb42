// The portable graph: values in static single assignment form, nodes that make them, closed regions for control flow.
//
// Non-goals: layouts, devices and memory belong to the plan. The compiler may use exceptions inside; `Failure` carries
// an Error to the one door (convert/) that turns it into a Result.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "types/op.h"

namespace mica {

struct Failure {
  std::shared_ptr<Error> error;  // exceptions are copied; an Error is not
  explicit Failure(Error e) : error(std::make_shared<Error>(std::move(e))) {}
};
template <class T>
T value_or_throw(Result<T> result) {
  if (!result.ok()) throw Failure(result.take_error());
  return result.take();
}
inline void ok_or_throw(Status status) {
  if (!status.ok()) throw Failure(status.take_error());
}
template <class... Args>
[[noreturn]] void fail(Code code, std::string_view pattern, const Args&... args) {
  throw Failure(error(code, pattern, args...));
}

// Constant contents, shared between values and graphs. `keep` owns the bytes (a buffer or a mapped file).
struct Constant {
  TensorView view;  // dense
  std::shared_ptr<const void> keep;
  static std::shared_ptr<const Constant> own(OwnedTensor tensor);
  // Copies `bytes`: dense elements, rows of sub-byte types padded to a byte; for strings, StringRefs. Throws Failure.
  static std::shared_ptr<const Constant> make(DType dtype, std::span<const int64_t> dims, const void* bytes);
};
using ConstantPtr = std::shared_ptr<const Constant>;

// How a value's integers stand for real numbers: real = scale · (q − zero point), per tensor, per slice of `axis`, or
// per block.
enum class QuantScheme : uint8_t { kNone, kAffine, kBlock, kSuperBlock, kCodebook };
struct Quantization {
  QuantScheme scheme = QuantScheme::kNone;
  ConstantPtr scales, zero_points, minima, super_scales, codebook;
  int axis = -1;               // -1: one scale for the tensor
  std::vector<int64_t> block;  // elements of a block per axis
};

struct Node;
struct Graph;

struct Value {
  Type type;
  std::string name;          // the source's name, for messages and keep-lists
  Node* producer = nullptr;  // null for graph inputs and constants
  int output = 0;            // which output of the producer
  ConstantPtr constant;
  ConstantPtr known;  // contents that inference computed: what folding turns into a constant
  std::shared_ptr<const Quantization> quant;
  std::vector<Dim> values;  // known elements of a small integer tensor (has_values)
  bool has_values = false;
  bool is_constant() const { return constant != nullptr; }
  bool is_input() const { return !producer && !constant; }
  // The elements, when inference or the source gave them; null otherwise.
  const TensorView* contents() const { return constant ? &constant->view : known ? &known->view : nullptr; }
};

struct Node {
  const OpDef* op = nullptr;
  std::vector<std::byte> attributes_blob;
  std::vector<Value*> inputs;                   // null: left out
  std::vector<Value*> outputs;                  // null: not wanted
  std::vector<std::unique_ptr<Graph>> regions;  // closed: what they use from outside comes in through node inputs
  std::string name;
  template <class A>
  A& attributes() {
    return *reinterpret_cast<A*>(attributes_blob.data());
  }
  template <class A>
  const A& attributes() const {
    return *reinterpret_cast<const A*>(attributes_blob.data());
  }
};

// A graph and what it owns. Nodes stand in an order in which each comes after those it needs.
struct Graph {
  std::string name;
  std::shared_ptr<DimTable> dims = std::make_shared<DimTable>();  // shared with the regions
  std::vector<Value*> inputs, outputs;
  std::vector<std::string> input_names, output_names;  // the interface's names, as the source spells them
  std::vector<std::unique_ptr<Node>> nodes;
  std::deque<Value> value_pool;
  std::map<std::string, std::string> metadata;  // pre-processing, labels, producer
  // State: output k of the graph feeds input i of the next run.
  struct State {
    int input, output;
  };
  std::vector<State> states;
  std::vector<std::string> keep;  // names of values that must exist at run time

  Graph() = default;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  Value* make_value(Type type = {}, std::string value_name = {});
  Value* add_input(Type type, std::string input_name);
  Value* add_constant(ConstantPtr constant, std::string value_name = {});
  void add_output(Value* value, std::string output_name);
};

// Deep copy; constants and the table of dimensions stay shared. Value i of the copy's pool stands for value i of the
// original's.
std::unique_ptr<Graph> clone(const Graph& graph);

}  // namespace mica
