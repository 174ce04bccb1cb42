#include <algorithm>

#include "runtime/bind_rows.h"

namespace mica {

// Values that may stand in windows or be cut into rows.
bool RowFinder::suits(uint32_t v) const {
  const Type& type = binder_.types_.value(v).type;
  if (!type.is_tensor() || !type.shape.fixed() || is_sub_byte(type.dtype) || type.dtype == DType::kString) return false;
  if (type.shape.rank < 3 || type.shape.rank > 5) return false;
  return std::ranges::all_of(type.shape.span(), [](Dim d) { return d.value() > 0; });
}

Status RowFinder::describe(Vector<RowStage>& stages) {
  const BoundSegment& segment = binder_.segment_;
  stages.clear();
  maker_.clear();
  MICA_TRY_STATUS(stages.resize(segment.end_stage - segment.first_stage));
  MICA_TRY_STATUS(maker_.resize(binder_.function_.values.size()));
  for (int32_t& maker : maker_) maker = -1;
  for (uint32_t i = 0; i < stages.size(); ++i) {
    const Stage& stage = binder_.function_.stages[segment.first_stage + i];
    MICA_TRY_STATUS(describe_stage(segment.first_stage + i, stages[i]));
    link(stage, i, stages);
    for (uint32_t v : stage.outputs)
      if (v != kNoIndex) maker_[v] = static_cast<int32_t>(i);
  }
  for (uint32_t v : segment.live_out)
    if (maker_[v] >= 0) stages[static_cast<size_t>(maker_[v])].escapes = true;
  return {};
}

Status RowFinder::describe_stage(uint32_t s, RowStage& out) {
  const Stage& stage = binder_.function_.stages[s];
  out.escapes = true;
  const RunDef* hook = binder_.hook_of(*stage.op);
  if (!hook || !hook->rows || stage.op->view || stage.op->compose || stage.outputs.empty() || stage.inputs.empty())
    return {};
  for (size_t k = 0; k < stage.outputs.size(); ++k)
    if ((stage.outputs[k] == kNoIndex) != (k > 0)) return {};
  if (!binder_.has_fixed_inputs(s)) return {};
  const uint32_t v = stage.outputs[0], x = stage.inputs[0];
  if (!suits(v) || x == kNoIndex || !suits(x) || binder_.types_.value(v).constant) return {};
  MICA_TRY_STATUS(ask_hook(stage, s, out));
  const PlanValue& value = binder_.function_.values[v];
  out.escapes = !out.capable || value.keep || !value.channels_last;
  return {};
}

Status RowFinder::ask_hook(const Stage& stage, uint32_t s, RowStage& out) {
  WholeScope scope(binder_, stage, s, lists_);
  MICA_TRY_STATUS(binder_.describe_unplaced(stage, scope));
  for (const BoundOperand& operand : scope.bound)
    if (operand.constant) out.weight_bytes += dense_bytes(operand.view.dtype, operand.view.shape());
  if (!binder_.hook_of(*stage.op)->rows(scope, out.window)) return {};
  const TensorView& result = scope.output(0).view;
  const TensorView& in = scope.input(0).view;
  out.images = result.dim(0);
  out.out_rows = result.dim(2);
  out.in_rows = in.rank == result.rank ? in.dim(2) : 1;
  const TensorView window = binder_.window_view(stage.outputs[0]);
  out.row_bytes = window.stride(0) / out.out_rows;
  if (result.rank == 4) {
    out.column_bytes = window.stride(3);
    out.out_columns = result.dim(3);
    out.in_columns = in.rank == 4 ? in.dim(3) : 1;
  }
  if (!out.window.elementwise && (in.rank != result.rank || in.dim(0) != out.images)) return {};
  out.row_work = static_cast<double>(result.count()) / static_cast<double>(out.images * out.out_rows);
  if (!out.window.elementwise && scope.inputs.size() > 1 && scope.input(1).view.rank == result.rank)
    out.row_work *= static_cast<double>(scope.input(1).view.count()) /
                    static_cast<double>(std::max<int64_t>(1, scope.input(1).view.dim(0)));
  out.capable = true;
  return {};
}

// Whether find_row_means may have the stage read means of its first input's rows.
bool RowFinder::may_want_means(const Stage& stage) const {
  const RunDef* hook = binder_.hook_of(*stage.op);
  return has_part("means", "rows") && binder_.context_.row_means && hook && hook->takes_row_means;
}

// Where a stage reads what earlier ones make: by rows, or in a way that needs all of it.
void RowFinder::link(const Stage& stage, uint32_t index, Vector<RowStage>& stages) {
  RowStage& reader = stages[index];
  const size_t own = own_input_count(stage);
  for (size_t k = 0; k < stage.inputs.size(); ++k) {
    const uint32_t v = stage.inputs[k];
    if (v == kNoIndex || maker_[v] < 0) continue;
    RowStage& maker = stages[static_cast<size_t>(maker_[v])];
    maker.last_reader = static_cast<int32_t>(index);
    if (k == 0 && may_want_means(stage)) maker.out_columns = 0;  // no part of a row tells its mean
    const bool windowed = k == 0 && !reader.window.elementwise;
    const bool by_rows =
        reader.capable && (windowed || reader.window.elementwise || k >= own) &&
        binder_.types_.value(v).type.shape.rank == binder_.types_.value(stage.outputs[0]).type.shape.rank &&
        (windowed || (maker.out_rows == reader.out_rows && reader.out_rows > 1)) &&
        reader.operand_count < kMostRowOperands;
    if (!by_rows) {
      maker.escapes = true;
      continue;
    }
    reader.operands[reader.operand_count++] = {maker_[v], windowed};
    if (!windowed && maker.out_columns != reader.out_columns) reader.out_columns = 0;
  }
}

}  // namespace mica
