// A problem made ready, and what every check of it begins with: inference and the reference's results.
#pragma once
#include <gtest/gtest.h>

#include "attribute_writer.h"
#include "problem.h"
#include "scopes.h"

namespace mica::suite {

std::string text_of(const Error& error);

// Definition, attribute struct, dense inputs.
struct Prepared {
  const Problem& problem;
  const OpDef* op = nullptr;
  alignas(16) std::byte blob[kMaxAttrBytes] = {};
  std::deque<Buffer> buffers;
  std::deque<Object> objects;
  std::deque<std::vector<Dim>> values;
  std::vector<RunValue> inputs;

  explicit Prepared(const Problem& p) : problem(p), op(find_op(p.op)) {
    if (!op) {
      ADD_FAILURE() << "no operator " << p.op;
      return;
    }
    if (op->attributes.init) {
      op->attributes.init(blob);
      AttributeWriter writer(p.attributes);
      op->attributes.visit(blob, writer);
      EXPECT_EQ(writer.found(), p.attributes.size()) << p.op << ": an attribute has another name or type";
    }
    for (const Spec& spec : p.inputs) inputs.push_back(make(spec));
  }
  RunValue make(const Spec& spec) {
    RunValue value;
    if (spec.absent) return value;
    value.present = true;
    if (spec.kind == Kind::kTensor) {
      buffers.emplace_back(spec.dtype, spec.dims, Arrangement::kDense);
      value.tensor = buffers.back().view();
      fill(value.tensor, spec);
      return value;
    }
    Object& object = objects.emplace_back();
    object.kind = spec.kind;
    object.dtype = spec.dtype;
    for (const Spec& item : spec.items) {
      Result<OwnedTensor> copy = OwnedTensor::copy_of(make(item).tensor);
      if (copy.ok()) {
        EXPECT_TRUE(object.tensors.push_back(copy.take()).ok());
      }
    }
    value.object = &object;
    return value;
  }
};

enum class Knowledge { kAll, kConstants, kShapes, kSymbols, kDtypes };
constexpr std::string_view kKnowledge[] = {"all contents", "constants", "shapes only", "symbolic dimensions",
                                           "element types only"};

struct Inference {
  DimTable dims;
  TestInferScope scope;
  std::vector<InferValue> inputs, outputs;
  Status status;
};

void infer(Prepared& p, Knowledge knowledge, Inference& out);

// Runs the reference on `inputs`.
void refer(Prepared& p, const std::vector<RunValue>& inputs, std::span<const InferValue> types, TestRunScope& scope,
           Status& status);

// Both, knowing the contents of constants.
Status run_truth(Prepared& p, Inference& found, TestRunScope& truth);

// Whether a hook is asked: one sees tensors of fixed shapes alone.
bool hook_sees_it(const Prepared& p, const Inference& found);
void bind_input(const RunValue& value, bool constant, std::vector<BoundOperand>& inputs, std::vector<void*>& operands);

// A hook takes nothing that the reference refuses: it leaves the problem, fails, or adds a step whose check fails.
void check_hooks_refuse(const Prepared& p, const Inference& found);

// The same of the problem with an operand of another size, where the reference refuses that and inference does not.
void check_other_sizes(const Problem& problem);

}  // namespace mica::suite
