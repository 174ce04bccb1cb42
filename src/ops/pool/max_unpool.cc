#include "ops/pool/max_unpool.h"

#include "types/dense.h"
#include "types/infer.h"
#include "types/window.h"

namespace mica {
namespace {

Status check(const MaxUnpool& a, int spatial) {
  MICA_CHECK(a.kernel.size() == static_cast<size_t>(spatial), kBadAttribute,
             "`kernel` has {} items, expected {}: one for each spatial axis", a.kernel.size(), spatial);
  for (int64_t k : a.kernel) MICA_CHECK(k > 0 && k < int64_t{1} << 31, kBadAttribute, "`kernel` holds {}", k);
  return check_window({.strides = a.strides, .dilations = {}, .pads = a.pads}, spatial);
}

// The shape that was pooled, as far as it can be told: (in - 1) · stride - pads + kernel.
Dim unpooled(const MaxUnpool& a, int axis, int spatial, Dim in, DimTable& dims) {
  const auto i = static_cast<size_t>(axis);
  const int64_t pads = a.pads.get(i, 0) + a.pads.get(i + static_cast<size_t>(spatial), 0);
  return dims.add(dims.mul(dims.sub(in, 1), a.strides.get(i, 1)), a.kernel[i] - pads);
}

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<MaxUnpool>();
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_rank(scope, 0, 3, kMaxRank));
  MICA_CHECK(is_integer(scope.dtype(1)), kBadType, "the indices must be integers, not {}", name_of(scope.dtype(1)));
  const Shape& x = scope.shape(0);
  std::span<const Dim> given;
  if (scope.known_dims(2, given) && given.size() <= kMaxRank) {
    scope.out(0, scope.dtype(0), Shape(given));
    return {};
  }
  if (!x.known()) {
    scope.out(0, scope.dtype(0), Shape());
    return {};
  }
  MICA_TRY_STATUS(check(a, x.rank - 2));
  Shape out = x;
  for (int i = 2; i < x.rank; ++i)
    out[i] = scope.has(2) ? scope.dims().fresh("unpool") : unpooled(a, i - 2, x.rank - 2, x[i], scope.dims());
  scope.out(0, scope.dtype(0), out);
  return {};
}

// Indices count elements of the unpooled shape; an output shape that is given may be larger in every axis.
Status reference(RunScope& scope) {
  const auto& a = scope.attributes<MaxUnpool>();
  const TensorView& x = scope.in(0);
  MICA_CHECK(x.rank >= 3 && scope.in(1).count() == x.count(), kBadShape, "{} values with {} indices", x.count(),
             scope.in(1).count());
  MICA_TRY_STATUS(check(a, x.rank - 2));
  std::array<int64_t, kMaxRank> inner{x.dim(0), x.dim(1)};
  DimTable none;
  for (int i = 2; i < x.rank; ++i)
    inner[static_cast<size_t>(i)] = unpooled(a, i - 2, x.rank - 2, x.dim(i), none).value();
  std::array<int64_t, kMaxRank> dims = inner;
  if (scope.has(2)) {
    const Elements given(scope.in(2));
    MICA_CHECK(scope.in(2).count() == x.rank, kBadShape, "an output shape of {} dimensions for an input of {}",
               scope.in(2).count(), x.rank);
    for (int i = 0; i < x.rank; ++i) dims[static_cast<size_t>(i)] = given.integer(i);
  }
  const auto rank = static_cast<size_t>(x.rank);
  int64_t room = 1;
  for (size_t i = 0; i < rank; ++i)
    MICA_CHECK(inner[i] >= 0 && dims[i] >= inner[i] && !__builtin_mul_overflow(room, inner[i], &room), kBadValue,
               "an output of {} along axis {} where pooling saw {}", dims[i], i, inner[i]);
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(dims.data(), rank)));
  const Elements y(scope.out(0)), values(x), indices(scope.in(1));
  for (int64_t i = 0, n = scope.out(0).count(); i < n; ++i) y.set_number(i, 0);
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    int64_t linear = indices.integer(i);
    MICA_CHECK(linear >= 0 && linear < room, kBadValue, "index {} is outside 0 … {}", linear, room - 1);
    std::array<int64_t, kMaxRank> at{};
    for (size_t k = rank; k-- > 0; linear /= inner[k]) at[k] = linear % inner[k];
    y.set_number_at(at.data(), values.number(i));
  }
  return {};
}

}  // namespace

MICA_OP(max_unpool) = {
    .name = "max_unpool",
    .doc = "puts each element of x where its index says, zeros elsewhere; inputs x, indices, output shape",
    .inputs = {2, 3},
    .attributes = attr_class<MaxUnpool>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
