// The reference of element-wise operators.
#include "types/infer.h"

#include <algorithm>

namespace mica {
namespace {

// How the elements are computed.
struct Function {
  Pointwise f = Pointwise::kNone;
  float a = 0, b = 0;
  int inputs = 1;
  bool integer = false, is_unsigned = false;
};

Function function_of(const RunScope& scope, const OpDef& op) {
  Function function;
  function.f = op.pointwise;
  function.inputs = info_of(op.pointwise).inputs == 2 ? 2 : 1;
  if (op.parameters) op.parameters(scope.attributes_blob, function.a, function.b);
  const NumberKind kind = kind_of(scope.in(0).dtype);
  const bool whole = kind == NumberKind::kSigned || kind == NumberKind::kUnsigned || kind == NumberKind::kBool;
  function.integer = whole && has_int_form(op.pointwise);
  function.is_unsigned = kind != NumberKind::kSigned;
  return function;
}

// `in` seen with the dimensions of `out`: missing axes and axes of 1 get stride 0.
TensorView stretched(const TensorView& in, const TensorView& out) {
  TensorView view = out;
  view.data = in.data;
  view.dtype = in.dtype;
  view.strides = {};
  for (int i = 0; i < in.rank; ++i) {
    const int at = out.rank - in.rank + i;
    if (in.dim(i) != 1) view.strides[static_cast<size_t>(at)] = in.stride(i);
  }
  return view;
}

Status broadcast_dims(const TensorView& x, const TensorView& y, int64_t* dims, int& rank) {
  rank = std::max(x.rank, y.rank);
  for (int i = 1; i <= rank; ++i) {
    const int64_t a = i <= x.rank ? x.dim(x.rank - i) : 1, b = i <= y.rank ? y.dim(y.rank - i) : 1;
    MICA_CHECK(a == b || a == 1 || b == 1, kBadShape, "dimensions {} and {} do not broadcast", a, b);
    dims[rank - i] = a == 1 ? b : a;
  }
  return {};
}

// Dense operands of one shape in one of the two most frequent types.
bool run_dense(const Function& fn, const TensorView& x, const TensorView& y, const TensorView& out) {
  const auto same = [&](const TensorView& v) {
    return v.dtype == out.dtype && v.contiguous() && std::ranges::equal(v.shape(), out.shape());
  };
  if (!out.contiguous() || !same(x) || !same(y)) return false;
  const int64_t count = out.count();
  if (out.dtype == DType::kF32) {
    const float *a = x.as<const float>(), *b = y.as<const float>();
    auto* to = out.as<float>();
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(apply(fn.f, static_cast<double>(a[i]), static_cast<double>(b[i]), fn.a, fn.b));
    return true;
  }
  if (out.dtype != DType::kI64 || !fn.integer) return false;
  const int64_t *a = x.as<const int64_t>(), *b = y.as<const int64_t>();
  auto* to = out.as<int64_t>();
  for (int64_t i = 0; i < count; ++i) to[i] = apply_int(fn.f, a[i], b[i], false);
  return true;
}

// Types of whole bytes, any strides: the last axis is the inner loop.
void run_strided(const Function& fn, const TensorView& x, const TensorView& y, const TensorView& out) {
  const int last = out.rank - 1;
  const int64_t count = last < 0 ? 1 : out.dim(last);
  const auto step = [&](const TensorView& v) { return last < 0 ? 0 : v.stride(last); };
  const int64_t x_step = step(x), y_step = step(y), out_step = step(out);
  int64_t index[kMaxRank] = {};
  do {
    auto *a = x.as<const char>(), *b = y.as<const char>();
    auto* to = out.as<char>();
    for (int i = 0; i < last; ++i)
      a += index[i] * x.stride(i), b += index[i] * y.stride(i), to += index[i] * out.stride(i);
    for (int64_t i = 0; i < count; ++i, a += x_step, b += y_step, to += out_step) {
      if (fn.integer)
        store_int(out.dtype, to, apply_int(fn.f, load_int(x.dtype, a), load_int(y.dtype, b), fn.is_unsigned));
      else
        store_number(out.dtype, to, apply(fn.f, load_number(x.dtype, a), load_number(y.dtype, b), fn.a, fn.b));
    }
  } while (next_index(index, out.shape().first(static_cast<size_t>(std::max(last, 0)))));
}

// Sub-byte types: element by element; an operand's index is 0 along its axes of 1.
void run_packed(const Function& fn, const TensorView& x, const TensorView& y, const TensorView& out) {
  const Elements a(x), b(y), to(out);
  const auto index_in = [&](const TensorView& v, const int64_t* index, int64_t* own) {
    for (int i = 0; i < v.rank; ++i) own[i] = v.dim(i) == 1 ? 0 : index[out.rank - v.rank + i];
    return own;
  };
  int64_t index[kMaxRank] = {}, own[2][kMaxRank];
  do {
    const int64_t *i = index_in(x, index, own[0]), *j = index_in(y, index, own[1]);
    if (fn.integer)
      to.set_integer_at(index, apply_int(fn.f, a.integer_at(i), b.integer_at(j), fn.is_unsigned));
    else
      to.set_number_at(index, apply(fn.f, a.number_at(i), b.number_at(j), fn.a, fn.b));
  } while (next_index(index, out.shape()));
}

}  // namespace

Status reference_pointwise(RunScope& scope, const OpDef& op) {
  const Function fn = function_of(scope, op);
  MICA_CHECK(scope.has(0) && (fn.inputs == 1 || scope.has(1)), kBadModel, "`{}` takes {} inputs", op.name, fn.inputs);
  const TensorView x = scope.in(0), y = scope.in(fn.inputs - 1);
  int64_t dims[kMaxRank];
  int rank = 0;
  MICA_TRY_STATUS(broadcast_dims(x, y, dims, rank));
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(dims, static_cast<size_t>(rank))));
  const TensorView out = scope.out(0);
  if (out.empty() || run_dense(fn, x, y, out)) return {};
  if (is_sub_byte(x.dtype) || is_sub_byte(y.dtype) || is_sub_byte(out.dtype))
    run_packed(fn, x, y, out);
  else
    run_strided(fn, stretched(x, out), stretched(y, out), out);
  return {};
}

}  // namespace mica
