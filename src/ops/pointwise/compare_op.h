// What the comparisons share.
#pragma once
#include "ops/pointwise/broadcast.h"

namespace mica::pointwise {

enum class Relation : uint8_t { kEqual, kGreater, kLess, kGreaterOrEqual, kLessOrEqual };

template <class T>
bool holds(Relation relation, T x, T y) {
  switch (relation) {
    case Relation::kEqual: return x == y;
    case Relation::kGreater: return x > y;
    case Relation::kLess: return x < y;
    case Relation::kGreaterOrEqual: return x >= y;
    case Relation::kLessOrEqual: return x <= y;
  }
  return false;
}

// What the intervals of two dimensions leave no doubt of: 1, 0, or -1 where it depends.
inline int decided(Relation relation, Dim x, Dim y, const DimTable& dims) {
  const DimTable::Interval a = dims.interval(x), b = dims.interval(y);
  const bool same = x == y;
  const auto at_least = [](bool always, bool never) { return always ? 1 : never ? 0 : -1; };
  switch (relation) {
    case Relation::kEqual: return at_least(same, a.low > b.high || a.high < b.low);
    case Relation::kGreater: return at_least(a.low > b.high, same || a.high <= b.low);
    case Relation::kLess: return at_least(a.high < b.low, same || a.low >= b.high);
    case Relation::kGreaterOrEqual: return at_least(same || a.low >= b.high, a.high < b.low);
    case Relation::kLessOrEqual: return at_least(same || a.high <= b.low, a.low > b.high);
  }
  return -1;
}

// Sizes are never -1: exported models ask for it before they expand.
inline Status infer_decisions(InferScope& scope, Relation relation) {
  std::span<const Dim> x, y;
  if (scope.dtype(0) != DType::kI64 && scope.dtype(0) != DType::kI32) return {};
  const Shape& shape = scope.outputs[0].type.shape;
  if (!shape.known() || shape.rank > 1 || !scope.known_dims(0, x) || !scope.known_dims(1, y)) return {};
  const size_t count = shape.rank == 0 ? 1 : shape[0].is_fixed() ? static_cast<size_t>(shape[0].value()) : 0;
  if (count == 0 || count > kMaxKnownElements || x.empty() || y.empty()) return {};
  Dims out;
  for (size_t i = 0; i < count; ++i) {
    const int truth = decided(relation, x[x.size() == 1 ? 0 : i], y[y.size() == 1 ? 0 : i], scope.dims());
    if (truth < 0 || !out.push(truth)) return {};
  }
  return scope.set_values(0, out.span());
}

template <Relation relation>
Status infer_relation(InferScope& scope) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  const NumberKind kind = kind_of(scope.dtype(0));
  const bool ordered = kind != NumberKind::kString && kind != NumberKind::kBool && kind != NumberKind::kComplex;
  MICA_CHECK(relation == Relation::kEqual || ordered, kBadType, "elements of type {} have no order",
             name_of(scope.dtype(0)));
  MICA_TRY_STATUS(infer_compare(scope));
  return scope.output_count() > 0 ? infer_decisions(scope, relation) : Status();
}

template <Relation relation>
Status refer_relation(RunScope& scope) {
  MICA_TRY_STATUS(allocate_broadcast(scope, 2));
  const Elements x(scope.in(0)), y(scope.in(1)), out(scope.out(0));
  const NumberKind kind = kind_of(scope.in(0).dtype);
  return for_each_broadcast(scope, 2, [&](const int64_t* o, const int64_t* i, const int64_t* j, const int64_t*) {
    bool result;
    if (kind == NumberKind::kString) {
      const auto text = [](const Elements& e, const int64_t* at) {
        return reinterpret_cast<StringRef*>(e.address_at(at))->view();
      };
      result = text(x, i) == text(y, j);
    } else if (kind == NumberKind::kFloat) {
      result = holds(relation, x.number_at(i), y.number_at(j));
    } else if (kind == NumberKind::kUnsigned) {
      result = holds(relation, static_cast<uint64_t>(x.integer_at(i)), static_cast<uint64_t>(y.integer_at(j)));
    } else {
      result = holds(relation, x.integer_at(i), y.integer_at(j));
    }
    out.set_integer_at(o, result);
  });
}

template <Relation relation>
constexpr OpDef comparison(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .inputs = {2, 2},
          .infer = infer_relation<relation>,
          .reference = refer_relation<relation>,
          .layout = LayoutRule::kAny};
}

}  // namespace mica::pointwise
