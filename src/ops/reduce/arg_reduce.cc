#include "ops/reduce/arg_reduce.h"

#include <cmath>

#include "ops/reduce/axes.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  const auto& a = scope.attributes<ArgReduce>();
  const NumberKind kind = kind_of(scope.dtype(0));
  MICA_CHECK(kind == NumberKind::kFloat || kind == NumberKind::kSigned || kind == NumberKind::kUnsigned, kBadType,
             "elements of type {} have no order", name_of(scope.dtype(0)));
  const Shape& in = scope.shape(0);
  if (!in.known()) {
    scope.out(0, DType::kI64, Shape());
    return {};
  }
  const int64_t axis[] = {a.axis};
  // A scalar has one element, whatever the axis.
  MICA_TRY(const reduce::AxisSet set, reduce::axis_set(std::span(axis, in.rank ? 1u : 0u), in.rank, false));
  scope.out(0, DType::kI64, reduce::reduced_shape(in, set, a.keep_dims));
  return {};
}

// Whether y comes before x in the search: NaN before everything.
bool beats(double y, double x, const ArgReduce& a) {
  if (std::isnan(x)) return a.last && std::isnan(y);
  if (std::isnan(y)) return true;
  return (a.smallest ? y < x : y > x) || (a.last && y == x);
}
bool beats(int64_t y, int64_t x, const ArgReduce& a, bool is_unsigned) {
  const bool less = is_unsigned ? static_cast<uint64_t>(y) < static_cast<uint64_t>(x) : y < x;
  return y == x ? a.last : a.smallest ? less : !less;
}

int64_t search(const TensorView& x, const char* from, int axis, const ArgReduce& a) {
  const int64_t n = x.rank ? x.dim(axis) : 1, stride = x.rank ? x.stride(axis) : 0;
  const bool whole = !is_float(x.dtype), is_unsigned = kind_of(x.dtype) == NumberKind::kUnsigned;
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    const char *candidate = from + i * stride, *leader = from + best * stride;
    const bool wins = whole ? beats(load_int(x.dtype, candidate), load_int(x.dtype, leader), a, is_unsigned)
                            : beats(load_number(x.dtype, candidate), load_number(x.dtype, leader), a);
    if (wins) best = i;
  }
  return best;
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<ArgReduce>();
  const TensorView& x = scope.in(0);
  int axis = 0;
  if (x.rank) {
    MICA_TRY(axis, normalize_axis(a.axis, x.rank));
  }
  reduce::AxisSet set;
  if (x.rank) set.has[axis] = true;
  const Shape shape = reduce::reduced_shape(x.to_shape(), set, a.keep_dims);
  int64_t dims[kMaxRank];
  for (int i = 0; i < shape.rank; ++i) dims[i] = shape[i].value();
  MICA_TRY_STATUS(scope.allocate_output(0, std::span<const int64_t>(dims, static_cast<size_t>(shape.rank))));
  const TensorView& out = scope.out(0);
  if (out.empty()) return {};
  MICA_CHECK(x.rank == 0 || x.dim(axis) > 0, kBadShape, "axis {} is empty: it has no extreme element", axis);
  const reduce::Loops loops = reduce::loops_of(x, set);
  const Elements to(out);
  int64_t index[kMaxRank] = {}, linear = 0;
  do {
    const char* from = x.as<const char>() + reduce::offset_of(index, loops.outer_stride, loops.outer_rank);
    to.set_integer(linear++, search(x, from, axis, a));
  } while (next_index(index, loops.outer_dims()));
  return {};
}

}  // namespace

MICA_OP(arg_reduce) = {.name = "arg_reduce",
                       .doc = "where along `axis` the largest (or smallest) element stands, i64; NaN is found first",
                       .attributes = attr_class<ArgReduce>(),
                       .infer = infer,
                       .reference = reference};

}  // namespace mica
