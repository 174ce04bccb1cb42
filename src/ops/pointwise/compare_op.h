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

template <Relation relation>
Status infer_relation(InferScope& scope) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  const NumberKind kind = kind_of(scope.dtype(0));
  const bool ordered = kind != NumberKind::kString && kind != NumberKind::kBool && kind != NumberKind::kComplex;
  MICA_CHECK(relation == Relation::kEqual || ordered, kBadType, "elements of type {} have no order",
             name_of(scope.dtype(0)));
  return infer_compare(scope);
}

template <Relation relation>
Status refer_relation(RunScope& scope) {
  MICA_TRY_STATUS(allocate_broadcast(scope, 2));
  const Elements x(scope.in(0)), y(scope.in(1)), out(scope.out(0));
  const NumberKind kind = kind_of(scope.in(0).dtype);
  for_each_broadcast(scope, 2, [&](const int64_t* o, const int64_t* i, const int64_t* j, const int64_t*) {
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
  return {};
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
