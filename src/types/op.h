// What an operator is: its name, attributes, types and reference. One `constexpr`-initialised OpDef per file
// `ops/<family>/<op>.cc`, found by the build through the file's name.
//
//   MICA_OP(softmax) = {.name = "softmax", .doc = "exp(x - max) / sum along `axis`", .inputs = {1, 1}, .attributes =
//   attr_class<Softmax>(),
//                       .infer = infer, .reference = reference};
#pragma once
#include "base/table.h"
#include "types/attr.h"
#include "types/object.h"
#include "types/pointwise.h"

namespace mica {

struct OpDef;

// Small known contents are carried along with types, so that shapes computed by a model become dimensions.
inline constexpr int64_t kMaxKnownElements = 1024;

// What inference knows of one operand. `values`: the elements of a small integer tensor as dimensions (perhaps
// symbolic); `constant`: the elements themselves, when all are known numbers (constants of any size, small computed
// ones).
struct InferValue {
  bool present = false;
  Type type;
  std::span<const Dim> values;
  bool has_values = false;
  const TensorView* constant = nullptr;
};

// The door through which an operator's `infer` sees its operands. Errors need not name the node: the caller adds it.
class InferScope {
 public:
  std::span<const InferValue> inputs;
  std::span<InferValue> outputs;  // present: somebody uses it
  const void* attributes_blob = nullptr;
  const OpDef* definition = nullptr;  // set by `evaluate`
  DimTable* table = nullptr;

  template <class A>
  const A& attributes() const {
    return *static_cast<const A*>(attributes_blob);
  }
  DimTable& dims() { return *table; }
  bool has(int i) const { return i < static_cast<int>(inputs.size()) && inputs[static_cast<size_t>(i)].present; }
  const Type& type(int i) const { return inputs[static_cast<size_t>(i)].type; }
  const Shape& shape(int i) const { return type(i).shape; }
  DType dtype(int i) const { return type(i).dtype; }
  const InferValue& in(int i) const { return inputs[static_cast<size_t>(i)]; }
  int output_count() const { return static_cast<int>(outputs.size()); }
  // Sets an output's type; outputs beyond those wanted are ignored.
  void out(int i, const Type& type) {
    if (i < output_count()) outputs[static_cast<size_t>(i)].type = type;
  }
  void out(int i, DType dtype, const Shape& shape) { out(i, Type::tensor(dtype, shape)); }
  // The elements of an integer operand when each is a known number (false otherwise), or as dimensions.
  bool ints(int i, Ints& list) const;
  bool known_dims(int i, std::span<const Dim>& list) const;
  // A known number of a one-element operand of any numeric type.
  bool scalar(int i, double& value) const;
  // Gives an output's elements (shape's own, an iota, …). Ignored when there are more than kMaxKnownElements.
  Status set_values(int i, std::span<const Dim> values);
  // Infers a region's results from the types of its inputs (If, Loop, Scan).
  virtual Status infer_region(int region, std::span<const InferValue> in, std::span<InferValue> out) = 0;
  virtual int regions() const = 0;
  virtual void* allocate(size_t bytes) = 0;  // lives as long as the results; null when memory is short

 protected:
  ~InferScope() = default;
};

// One operand at run time: a tensor, or an object slot.
struct RunValue {
  bool present = false;
  TensorView tensor;
  Object* object = nullptr;
};

// The door through which a reference sees its operands. Tensors may have any strides. An output whose shape was not
// known beforehand has data == nullptr until `allocate_output`.
class RunScope {
 public:
  std::span<const RunValue> inputs;
  std::span<RunValue> outputs;
  const void* attributes_blob = nullptr;
  const OpDef* definition = nullptr;  // null where a test calls a reference by itself

  template <class A>
  const A& attributes() const {
    return *static_cast<const A*>(attributes_blob);
  }
  bool has(int i) const { return i < static_cast<int>(inputs.size()) && inputs[static_cast<size_t>(i)].present; }
  bool wants(int i) const { return i < static_cast<int>(outputs.size()) && outputs[static_cast<size_t>(i)].present; }
  const TensorView& in(int i) const { return inputs[static_cast<size_t>(i)].tensor; }
  const TensorView& out(int i) const { return outputs[static_cast<size_t>(i)].tensor; }
  Object& in_object(int i) const { return *inputs[static_cast<size_t>(i)].object; }
  Object& out_object(int i) const { return *outputs[static_cast<size_t>(i)].object; }

  // Memory for output i of shape `dims`; when the shape was known already it must be the same and this only checks.
  virtual Status allocate_output(int i, std::span<const int64_t> dims) = 0;
  // Makes `tensor` (of a region's result, say) output i.
  virtual Status adopt_output(int i, OwnedTensor tensor) = 0;
  virtual Result<void*> allocate(size_t bytes) = 0;           // until the operator returns; 64-byte aligned
  virtual Result<StringRef> keep(std::string_view text) = 0;  // bytes for a string element, until the run ends
  // Runs a region: results are owned by the caller. Objects go in and out through RunValue::object.
  struct CallResult {
    OwnedTensor tensor;
    Object object;
  };
  virtual Status call(int region, std::span<const RunValue> in, std::span<CallResult> out) = 0;
  virtual Status check_stop() = 0;  // cancel and deadline: call it in long loops

 protected:
  ~RunScope() = default;
};

// How inference computes elements of small integer tensors symbolically.
enum class DimRule : uint8_t {
  kNone,
  kMove,  // the reference only moves elements of input 0 (and of all inputs, for concat): it runs on dimensions as they
          // are
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kNeg,
  kCopy,
};

// Which physical order an operator wants for tensors of rank >= 3: source order; any order, the same for all full-rank
// operands; or channels last for operand 0 and output 0 (the others as the operator's hook says).
enum class LayoutRule : uint8_t { kSource, kAny, kChannelsLast };

struct Count {
  int min = 1, max = 1;
};  // max -1: any number
inline constexpr int kAnyNumber = -1;

// Numbers for the cost of one application: fixed types of inputs and outputs.
struct CostScope {
  std::span<const Type> inputs, outputs;
  const void* attributes_blob;
  template <class A>
  const A& attributes() const {
    return *static_cast<const A*>(attributes_blob);
  }
};

struct OpDef {
  std::string_view name;
  std::string_view doc;
  Count inputs = {1, 1};
  Count outputs = {1, 1};
  AttrClass attributes = {};
  Status (*infer)(InferScope&) = nullptr;
  Status (*reference)(RunScope&) = nullptr;
  // Floating-point operations of one application (a multiply-add counts 2); without it: one per output element.
  int64_t (*flops)(const CostScope&) = nullptr;
  // Output `output` as a view of input 0: false when the strides, or operands whose contents are not known yet (data ==
  // nullptr), do not allow it. The scope's outputs have their dims already. Sets dims, strides (perhaps 0 or negative)
  // and data of `out` relative to `in.data`.
  bool (*view)(const RunScope& scope, const TensorView& in, TensorView& out, int output) = nullptr;
  // Input `input` as a part of output 0 (concatenation, padding): its producer may then write there. Sets dims, strides
  // and data of `in` relative to `out.data`; false when it cannot. Of the scope's inputs only constants have contents.
  bool (*compose)(const RunScope& scope, const TensorView& out, TensorView& in, int input) = nullptr;
  DimRule dim_rule = DimRule::kNone;
  LayoutRule layout = LayoutRule::kSource;
  Pointwise pointwise = Pointwise::kNone;                                    // element-wise function of input 0 (and 1)
  void (*parameters)(const void* attributes, float& a, float& b) = nullptr;  // of `pointwise`
  int regions = 0;                                                           // If 2, Loop and Scan 1
  bool random = false;                                                       // never folded or merged
  bool takes_objects = false;  // sequences, optionals or maps; others are given tensors alone
  bool in_place = false;       // output 0 may take input 0's (or 1's) memory when type and strides agree
  const void* user = nullptr;  // for operators made at run time: what their functions find through scope.definition
};

std::span<const TableRow<OpDef>> all_op();
const OpDef* find_op(std::string_view name);

#define MICA_DECLARE_OP(id) extern const ::mica::OpDef op_##id
#define MICA_OP(id)                   \
  extern const ::mica::OpDef op_##id; \
  constinit const ::mica::OpDef op_##id

}  // namespace mica
