#include "types/infer.h"

#include <memory>

namespace mica {
namespace {

// NumPy's rule for one pair of dimensions; false when fixed ones disagree.
bool broadcast_dim(Dim a, Dim b, DimTable& dims, Dim& out) {
  if (a == b || b.is(1))
    out = a;
  else if (a.is(1))
    out = b;
  else if (a.is_fixed() && b.is_fixed())
    return false;
  else if (a.is_fixed())
    out = a;
  else if (b.is_fixed())
    out = b;
  else
    out = dims.max(a, b);
  return true;
}

}  // namespace

Result<int> normalize_axis(int64_t axis, int rank, std::string_view what) {
  MICA_CHECK(axis >= -rank && axis < rank, kBadAttribute, "`{}` is {}, outside -{} … {} of a tensor with {} dimensions",
             what, axis, rank, rank - 1, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<Shape> broadcast(const Shape& a, const Shape& b, DimTable& dims) {
  if (!a.known() || !b.known()) return Shape();
  Shape out = Shape::of_rank(std::max(a.rank, b.rank));
  for (int i = 1; i <= out.rank; ++i) {
    const Dim x = i <= a.rank ? a[a.rank - i] : Dim(1), y = i <= b.rank ? b[b.rank - i] : Dim(1);
    if (broadcast_dim(x, y, dims, out[out.rank - i])) continue;
    String left, right;
    MICA_TRY_STATUS(print(a, dims, left));
    MICA_TRY_STATUS(print(b, dims, right));
    return error(Code::kBadShape, "shapes {} and {} do not broadcast", left, right);
  }
  return out;
}

Status infer_same(InferScope& scope) {
  scope.out(0, scope.type(0));
  return {};
}

Status infer_pointwise(InferScope& scope) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  Shape shape = scope.shape(0);
  for (int i = 1; i < static_cast<int>(scope.inputs.size()); ++i) {
    if (!scope.has(i)) continue;
    MICA_TRY_STATUS(require_tensor(scope, i));
    MICA_TRY_STATUS(require_same_dtype(scope, 0, i));
    MICA_TRY(shape, broadcast(shape, scope.shape(i), scope.dims()));
  }
  scope.out(0, scope.dtype(0), shape);
  return {};
}

Status infer_compare(InferScope& scope) {
  MICA_TRY_STATUS(infer_pointwise(scope));
  if (scope.output_count() > 0) scope.outputs[0].type.dtype = DType::kBool;
  return {};
}

Status require_tensor(const InferScope& scope, int input) {
  MICA_CHECK(scope.has(input), kBadModel, "input {} is missing", input);
  MICA_CHECK(scope.type(input).is_tensor(), kBadType, "input {} must be a tensor", input);
  return {};
}

Status require_rank(const InferScope& scope, int input, int low, int high) {
  MICA_TRY_STATUS(require_tensor(scope, input));
  const Shape& shape = scope.shape(input);
  if (!shape.known() || (shape.rank >= low && shape.rank <= high)) return {};
  String text;
  MICA_TRY_STATUS(print(shape, *scope.table, text));
  if (low == high)
    return error(Code::kBadRank, "input {} needs {} dimensions, got {}: {}", input, low, static_cast<int>(shape.rank),
                 text);
  return error(Code::kBadRank, "input {} needs {} to {} dimensions, got {}: {}", input, low, high,
               static_cast<int>(shape.rank), text);
}

Status require_float(const InferScope& scope, int input) {
  MICA_TRY_STATUS(require_tensor(scope, input));
  MICA_CHECK(is_float(scope.dtype(input)), kBadType, "input {} must have a floating-point type, not {}", input,
             name_of(scope.dtype(input)));
  return {};
}

Status require_same_dtype(const InferScope& scope, int a, int b) {
  MICA_CHECK(scope.dtype(a) == scope.dtype(b), kBadType, "inputs {} and {} differ in type: {} and {}", a, b,
             name_of(scope.dtype(a)), name_of(scope.dtype(b)));
  return {};
}

bool InferScope::ints(int i, Ints& list) const {
  if (!has(i)) return false;
  const InferValue& value = in(i);
  list = {};
  if (value.constant) {
    const TensorView& view = *value.constant;
    const bool whole = is_integer(view.dtype) || view.dtype == DType::kBool;
    if (!whole || view.count() > static_cast<int64_t>(list.items.size())) return false;
    const Elements elements(view);
    for (int64_t e = 0, n = view.count(); e < n; ++e) list.push(elements.integer(e));
    return true;
  }
  if (!value.has_values || value.values.size() > list.items.size()) return false;
  for (Dim d : value.values) {
    if (!d.is_fixed()) return false;
    list.push(d.value());
  }
  return true;
}

bool InferScope::known_dims(int i, std::span<const Dim>& list) const {
  if (!has(i) || !in(i).has_values) return false;
  list = in(i).values;
  return true;
}

bool InferScope::scalar(int i, double& value) const {
  if (!has(i)) return false;
  const InferValue& operand = in(i);
  if (operand.constant) {
    const NumberKind kind = kind_of(operand.constant->dtype);
    if (operand.constant->count() != 1 || kind == NumberKind::kString || kind == NumberKind::kNone) return false;
    value = Elements(*operand.constant).number(0);
    return true;
  }
  if (!operand.has_values || operand.values.size() != 1 || !operand.values[0].is_fixed()) return false;
  value = static_cast<double>(operand.values[0].value());
  return true;
}

Status InferScope::set_values(int i, std::span<const Dim> values) {
  if (i >= output_count() || values.size() > static_cast<size_t>(kMaxKnownElements)) return {};
  auto* copy = static_cast<Dim*>(allocate(std::max<size_t>(1, values.size()) * sizeof(Dim)));
  if (!copy) return out_of_memory();
  std::uninitialized_copy(values.begin(), values.end(), copy);
  InferValue& out = outputs[static_cast<size_t>(i)];
  out.values = {copy, values.size()};
  out.has_values = true;
  return {};
}

}  // namespace mica
