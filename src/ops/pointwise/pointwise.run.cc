// The hook of every element-wise operator without one of its own.
#include "step/chain.h"
#include "step/typed.h"

namespace mica {
namespace {

// An operand with one element, known now: a power or division by it may be a cheaper function.
bool known_number(const BoundOperand& operand, double& value) {
  if (!operand.constant || operand.view.count() != 1) return false;
  value = Elements(operand.view).number(0);
  return true;
}

ChainLink simplified(const BindScope& scope, ChainLink link) {
  double number;
  if (link.function != Pointwise::kPow || !known_number(scope.input(1), number)) return link;
  if (number == 2) return {.function = Pointwise::kSquare};
  if (number == 1) return {.function = Pointwise::kIdentity};
  if (number == -1) return {.function = Pointwise::kReciprocal};
  return link;
}

// Whether the output's neighbours are several of the operand's elements: the running value had better be such.
bool moves(const TensorView& operand, const TensorView& out) {
  int inner = -1;
  for (int i = 0; i < out.rank; ++i)
    if (out.dim(i) > 1 && (inner < 0 || out.stride(i) < out.stride(inner))) inner = i;
  const int axis = inner - (out.rank - operand.rank);
  return inner >= 0 && axis >= 0 && operand.dim(axis) > 1;
}

// Whether the second operand had better be the running value: one of all elements, or else one that moves.
bool runs_second(const TensorView& first, const TensorView& second, const TensorView& out) {
  if (first.count() == out.count()) return false;
  return second.count() == out.count() || (!moves(first, out) && moves(second, out));
}

// Integers and doubles: the functions that kernels have.
Result<bool> bind_typed_pair(BindScope& scope, DType dtype) {
  TypedSpec spec{.from = dtype, .to = dtype, .inputs = 2};
  switch (scope.op->pointwise) {
    case Pointwise::kAdd: spec.function = TypedFunction::kAdd; break;
    case Pointwise::kSub: spec.function = TypedFunction::kSub; break;
    case Pointwise::kMul: spec.function = TypedFunction::kMul; break;
    case Pointwise::kMin: spec.function = TypedFunction::kMin; break;
    case Pointwise::kMax: spec.function = TypedFunction::kMax; break;
    case Pointwise::kDiv: spec.function = TypedFunction::kDiv; break;
    case Pointwise::kMod: spec.function = TypedFunction::kMod; break;
    case Pointwise::kFmod: spec.function = TypedFunction::kFmod; break;
    default: return false;
  }
  return bind_typed(scope, spec);
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const DType dtype = scope.input(0).view.dtype;
  if (is_integer(dtype) || dtype == DType::kF64) return bind_typed_pair(scope, dtype);
  ChainLink link{.function = scope.op->pointwise};
  if (scope.op->parameters) scope.op->parameters(scope.attributes_blob, link.a, link.b);
  int source = 0;
  if (info_of(link.function).inputs == 2) {
    if (!scope.has(1)) return false;
    link.operand = 1;
    link = simplified(scope, link);
    if (link.operand == 1 && runs_second(scope.input(0).view, scope.input(1).view, scope.output(0).view)) {
      source = 1;
      link.operand = 0;
      link.swapped = true;
    }
  }
  return bind_chain(scope, source, std::span(&link, 1), scope.op->name);
}

bool rows(const BindScope& scope, RowWindow& window) {
  const DType dtype = scope.output(0).view.dtype;
  window.elementwise = true;
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBf16;
}

}  // namespace

MICA_RUN(pointwise) = {.bind = bind, .rows = rows};

}  // namespace mica
