#include "runtime/infer.h"

#include <algorithm>
#include <new>

#include "base/checked.h"
#include "types/evaluate.h"

namespace mica {

class FunctionTypes::Scope final : public InferScope {
 public:
  Scope(FunctionTypes& owner, const Stage& stage) : owner_(owner), stage_(stage) {}
  Status infer_region(int region, std::span<const InferValue> in, std::span<InferValue> out) override {
    MICA_CHECK(region < static_cast<int>(stage_.functions.size()), kInternal, "the stage has no region {}", region);
    MICA_CHECK(owner_.depth_ < kMaxCallDepth, kDepth, "functions are nested deeper than {}", kMaxCallDepth);
    FunctionTypes callee(owner_, stage_.functions[static_cast<size_t>(region)]);
    MICA_TRY_STATUS(callee.begin());
    return callee.infer_all(in, out);
  }
  int regions() const override { return static_cast<int>(stage_.functions.size()); }
  void* allocate(size_t bytes) override { return owner_.pool_.take(bytes, kCacheLine); }

 private:
  FunctionTypes& owner_;
  const Stage& stage_;
};

Result<const TensorView*> constant_view(const PlanConstant& constant, Pool& pool) {
  void* place = pool.take(sizeof(TensorView));
  if (!place) return out_of_memory();
  int64_t dims[kMaxRank];
  for (int i = 0; i < constant.shape.rank; ++i) dims[i] = constant.shape[i].value();
  void* data = constant.packing.kind == 0 ? const_cast<void*>(constant.data) : nullptr;
  return new (place) TensorView(dense_view(data, constant.dtype, {dims, static_cast<size_t>(constant.shape.rank)}));
}

Status FunctionTypes::begin() {
  values_.clear();
  MICA_TRY_STATUS(values_.resize(function_.values.size()));
  for (size_t v = 0; v < values_.size(); ++v) {
    const PlanValue& planned = function_.values[v];
    InferValue& value = values_[v];
    value.present = true;
    value.type.kind = planned.type.kind;
    value.type.of = planned.type.of;
    value.type.dtype = planned.type.dtype;
    value.type.key = planned.type.key;
    if (planned.kind != ValueKind::kConstant) continue;
    const PlanConstant& constant = plan_.constants[planned.constant];
    value.type = Type::tensor(constant.dtype, constant.shape);
    MICA_TRY(const TensorView* view, constant_view(constant, pool_));
    if (view->data || view->empty()) value.constant = view;
  }
  return {};
}

namespace {

// The epilogue's second operands must be numbers for each element of the result, repeated along axes of 1: its steps
// and the kernels trust them. What is not known yet is looked at when it is.
Status check_epilogue(const Stage& stage, std::span<const InferValue> values) {
  for (int i = 0; i < stage.epilogue.count; ++i) {
    const PostOp& op = stage.epilogue.ops[i];
    if (op.operand < 0) continue;
    const Type& result = values[stage.outputs[0]].type;
    const Type& second = values[stage.inputs[static_cast<size_t>(op.operand)]].type;
    if (!result.shape.fixed() || !second.shape.fixed()) continue;
    bool good = result.is_tensor() && second.is_tensor() && result.dtype == second.dtype &&
                second.shape.rank <= result.shape.rank;
    for (int d = 0; good && d < second.shape.rank; ++d)
      good = second.shape[d].is(1) || second.shape[d] == result.shape[d + result.shape.rank - second.shape.rank];
    MICA_CHECK(good, kBadShape, "the second operand of `{}` in an epilogue does not fit the result",
               info_of(op.function).name);
  }
  return {};
}

// Counts, strides and bytes of bound tensors are multiplied without a look: those of each must fit, also when another
// dimension is 0.
Status check_size(const Type& type) {
  constexpr int64_t kMostBytes = int64_t{1} << 62;
  if (!type.is_tensor() || !type.shape.fixed()) return {};
  int64_t bytes = element_bytes(DType::kC128);
  for (Dim d : type.shape.span()) {
    MICA_CHECK(d.value() >= 0, kBadShape, "a dimension is negative: {}", d.value());
    const bool fits = checked_mul(bytes, std::max<int64_t>(d.value(), 1), bytes) && bytes <= kMostBytes;
    MICA_CHECK(fits, kBadShape, "a tensor is larger than the address space");
  }
  return {};
}

}  // namespace

Status FunctionTypes::infer_stage(uint32_t index, bool contents) {
  const Stage& stage = function_.stages[index];
  constexpr size_t kMany = 64;
  InferValue small_in[kMany], small_out[kMany];
  Vector<InferValue> large;
  std::span<InferValue> in(small_in, stage.inputs.size()), out(small_out, stage.outputs.size());
  if (stage.inputs.size() > kMany || stage.outputs.size() > kMany) {
    MICA_TRY_STATUS(large.resize(stage.inputs.size() + stage.outputs.size()));
    in = {large.data(), stage.inputs.size()};
    out = {large.data() + stage.inputs.size(), stage.outputs.size()};
  }
  // Operands of the epilogue stand behind the operator's own and are not shown to it.
  const size_t own = own_input_count(stage);
  for (size_t i = 0; i < own; ++i)
    if (stage.inputs[i] != kNoIndex) in[i] = values_[stage.inputs[i]];
  for (size_t i = 0; i < out.size(); ++i) out[i].present = stage.outputs[i] != kNoIndex;
  Scope scope(*this, stage);
  scope.inputs = in.first(own);
  scope.outputs = out;
  scope.attributes_blob = stage.attributes.data();
  scope.table = &symbols_;
  if (Status status = evaluate(*stage.op, scope, {.max_elements = contents ? kMaxKnownElements : -1}); !status.ok())
    return status.take_error().at(plan_.name(stage.name)).at(stage.op->name);
  for (size_t i = 0; i < out.size(); ++i)
    if (stage.outputs[i] != kNoIndex) {
      if (Status status = check_size(out[i].type); !status.ok())
        return status.take_error().at(plan_.name(stage.name)).at(stage.op->name);
      values_[stage.outputs[i]] = out[i];
      if (stage.epilogue.count) {
        values_[stage.outputs[i]].constant = nullptr;
        values_[stage.outputs[i]].has_values = false;
      }
    }
  return check_epilogue(stage, values_);
}

bool FunctionTypes::settled(uint32_t index) const {
  for (uint32_t v : function_.stages[index].outputs)
    if (v != kNoIndex && values_[v].type.is_tensor() && !values_[v].type.shape.fixed()) return false;
  return true;
}

Status FunctionTypes::infer_all(std::span<const InferValue> in, std::span<InferValue> out) {
  MICA_CHECK(in.size() == function_.inputs.size(), kInternal, "a function takes {} operands, got {}",
             function_.inputs.size(), in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    values_[function_.inputs[i]] = in[i];
    values_[function_.inputs[i]].present = true;
  }
  for (uint32_t s = 0; s < function_.stages.size(); ++s) MICA_TRY_STATUS(infer_stage(s));
  for (size_t i = 0; i < out.size() && i < function_.outputs.size(); ++i) out[i] = values_[function_.outputs[i]];
  return {};
}

}  // namespace mica
