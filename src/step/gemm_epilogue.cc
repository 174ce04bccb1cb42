#include "step/gemm_epilogue.h"

#include <algorithm>
#include <limits>

namespace mica {
namespace {

bool is_f32(const BoundOperand& operand) { return operand.present && operand.view.dtype == DType::kF32; }

// One number for each index of `axis` of `out`, adjacent in memory; all other axes are 1.
bool is_column_vector(const TensorView& view, const TensorView& out, int axis) {
  const int64_t columns = out.dim(axis);
  if (view.rank > out.rank || view.count() != columns) return false;
  const int at = axis - (out.rank - view.rank);
  if (at < 0) return false;
  return view.dim(at) == columns && (columns == 1 || view.stride(at) == static_cast<int64_t>(sizeof(float)));
}

bool same_shape(const TensorView& a, const TensorView& b) { return std::ranges::equal(a.shape(), b.shape()); }

}  // namespace

bool activation_of(const PostOp& op, GemmEpilogue& form) {
  if (!in_build(op.function)) return false;
  form.a = op.a;
  form.b = op.b;
  switch (op.function) {
    case Pointwise::kRelu:
      form.activation = Activation::kClip;
      form.a = 0;
      form.b = std::numeric_limits<float>::infinity();
      return true;
    case Pointwise::kClip: form.activation = Activation::kClip; return true;
    case Pointwise::kLeakyRelu: form.activation = Activation::kLeakyRelu; return true;
    case Pointwise::kHardSigmoid: form.activation = Activation::kHardSigmoid; return true;
    case Pointwise::kHardSwish: form.activation = Activation::kHardSwish; return true;
    case Pointwise::kSigmoid: form.activation = Activation::kSigmoid; return true;
    case Pointwise::kSilu: form.activation = Activation::kSilu; return true;
    case Pointwise::kTanh: form.activation = Activation::kTanh; return true;
    case Pointwise::kGelu: form.activation = Activation::kGelu; return true;
    default: return false;
  }
}

GemmEpilogueMap map_epilogue(const BindScope& scope, const GemmEpilogueOptions& options) {
  GemmEpilogueMap map;
  const TensorView& out = scope.output(0).view;
  bool activated = false, bias = options.has_bias;
  for (; map.done < scope.epilogue.count; ++map.done) {
    const PostOp& op = scope.epilogue.ops[map.done];
    if (op.function == Pointwise::kIdentity) continue;
    if (op.function == Pointwise::kAdd) {
      const BoundOperand& operand = scope.input(op.operand);
      if (!is_f32(operand)) break;
      if (!bias && !activated && map.residual < 0 && is_column_vector(operand.view, out, options.column_axis)) {
        map.bias = op.operand;
        bias = true;
      } else if (options.residual && map.residual < 0 && same_shape(operand.view, out)) {
        map.residual = op.operand;
        map.form.residual_last = activated;
      } else {
        break;
      }
    } else if (!activated && !(map.residual >= 0 && map.form.residual_last) && activation_of(op, map.form)) {
      activated = true;
    } else {
      break;
    }
  }
  return map;
}

}  // namespace mica
