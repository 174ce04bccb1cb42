#include "prepared.h"

#include <algorithm>

#include "types/evaluate.h"

namespace mica::suite {
namespace {

Type type_of(const Spec& spec, Knowledge knowledge, DimTable& dims) {
  Type type = Type::tensor(spec.dtype);
  type.kind = spec.kind;
  if (spec.kind != Kind::kTensor || knowledge == Knowledge::kDtypes) return type;
  type.shape = Shape::of_rank(static_cast<int>(spec.dims.size()));
  for (int i = 0; i < type.shape.rank; ++i) {
    const int64_t d = spec.dims[static_cast<size_t>(i)];
    // Equal sizes get equal symbols; 1 stays a number, because broadcasting looks at it.
    const bool symbol = knowledge == Knowledge::kSymbols && d > 1 && !spec.constant;
    type.shape[i] = symbol ? dims.symbol("D" + std::to_string(d)) : Dim(d);
  }
  return type;
}

}  // namespace

std::string text_of(const Error& error) {
  char text[2048];
  return std::string(text, std::min(error.print(text, sizeof text), sizeof text - 1));
}

void infer(Prepared& p, Knowledge knowledge, Inference& out) {
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const Spec& spec = p.problem.inputs[i];
    InferValue& value = out.inputs.emplace_back();
    if (spec.absent) continue;
    value.present = true;
    value.type = type_of(spec, knowledge, out.dims);
    const bool known = spec.kind == Kind::kTensor &&
                       (knowledge == Knowledge::kAll ||
                        (spec.constant && knowledge != Knowledge::kShapes && knowledge != Knowledge::kDtypes));
    if (!known) continue;
    const TensorView& view = p.inputs[i].tensor;
    value.constant = &view;
    if (!is_integer(view.dtype) || view.count() > kMaxKnownElements || view.rank > 1) continue;
    std::vector<Dim>& dims = p.values.emplace_back();
    for (int64_t k = 0; k < view.count(); ++k) dims.push_back(Elements(view).integer(k));
    value.values = dims;
    value.has_values = true;
  }
  out.outputs.resize(static_cast<size_t>(p.problem.outputs));
  for (size_t i = 0; i < out.outputs.size(); ++i)
    out.outputs[i].present = std::ranges::count(p.problem.unwanted_outputs, static_cast<int>(i)) == 0;
  out.scope.inputs = out.inputs;
  out.scope.outputs = out.outputs;
  out.scope.attributes_blob = p.blob;
  out.scope.table = &out.dims;
  out.status = check_inputs(*p.op, out.scope);
  if (out.status.ok()) out.status = p.op->infer(out.scope);
}

void refer(Prepared& p, const std::vector<RunValue>& inputs, std::span<const InferValue> types, TestRunScope& scope,
           Status& status) {
  scope.in_values = inputs;
  scope.out_values.resize(types.size());
  scope.results.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    scope.known.push_back(types[i].type);
    RunValue& value = scope.out_values[i];
    value.present = types[i].present;
    value.object = &scope.results[i].object;
    if (!value.present || !types[i].type.is_tensor()) continue;
    value.tensor.dtype = types[i].type.dtype;
    if (!types[i].type.shape.fixed()) continue;
    std::vector<int64_t> dims;
    for (Dim d : types[i].type.shape.span()) dims.push_back(d.value());
    if (Status made = scope.allocate_output(static_cast<int>(i), dims); !made.ok()) {
      status = std::move(made);
      return;
    }
  }
  scope.inputs = scope.in_values;
  scope.outputs = scope.out_values;
  scope.attributes_blob = p.blob;
  status = p.op->reference(scope);
}

Status run_truth(Prepared& p, Inference& found, TestRunScope& truth) {
  infer(p, Knowledge::kConstants, found);
  MICA_TRY_STATUS(found.status.copy());
  Status status;
  refer(p, p.inputs, found.outputs, truth, status);
  return status;
}

bool hook_sees_it(const Prepared& p, const Inference& found) {
  for (const InferValue& out : found.outputs)
    if (!out.type.is_tensor() || !out.type.shape.fixed() || out.type.dtype == DType::kString) return false;
  for (const Spec& spec : p.problem.inputs)
    if (spec.kind != Kind::kTensor) return false;
  return !found.outputs.empty();
}

void bind_input(const RunValue& value, bool constant, std::vector<BoundOperand>& inputs, std::vector<void*>& operands) {
  BoundOperand operand{.present = value.present, .constant = constant && value.present, .view = value.tensor};
  operands.push_back(value.present ? value.tensor.data : nullptr);
  if (!operand.constant) operand.view.data = nullptr;
  inputs.push_back(operand);
}

}  // namespace mica::suite
