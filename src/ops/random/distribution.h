// Attributes and shapes of the operators that draw random tensors.
#pragma once
#include "ops/random/mersenne.h"
#include "types/infer.h"

namespace mica {

// The shape is `dims`, or that of the operator's input when it has one.
struct Distribution {
  DType dtype = DType::kF32;
  Ints dims;
  float first = 0, second = 1;
  int64_t seed = 0;
  template <class V>
  void visit(V&& v) {
    v("dtype", dtype, "element type of the result; none: that of the input");
    v("dims", dims, "shape of the result, without an input");
    v("first", first, "lower end, or mean");
    v("second", second, "upper end, or standard deviation");
    v("seed", seed, "decides the numbers");
  }
};

namespace random {

inline Status infer_distribution(InferScope& scope) {
  const auto& a = scope.attributes<Distribution>();
  const DType dtype = a.dtype == DType::kNone && scope.has(0) ? scope.dtype(0) : a.dtype;
  MICA_CHECK(is_float(dtype), kBadType, "random numbers have a floating-point type, not {}", name_of(dtype));
  if (scope.has(0)) {
    MICA_TRY_STATUS(require_tensor(scope, 0));
    scope.out(0, dtype, scope.shape(0));
    return {};
  }
  MICA_CHECK(a.dims.size() <= kMaxRank, kLimit, "a shape of {} dimensions; at most {} are possible", a.dims.size(),
             kMaxRank);
  Shape shape = Shape::of_rank(static_cast<int>(a.dims.size()));
  for (int i = 0; i < shape.rank; ++i) {
    MICA_CHECK(a.dims[static_cast<size_t>(i)] >= 0, kBadShape, "dimension {} is {}", i, a.dims[static_cast<size_t>(i)]);
    shape[i] = a.dims[static_cast<size_t>(i)];
  }
  scope.out(0, dtype, shape);
  return {};
}

inline Status allocate_distribution(RunScope& scope) {
  const auto& a = scope.attributes<Distribution>();
  return scope.allocate_output(0, scope.has(0) ? scope.in(0).shape() : a.dims.span());
}

// The reference of an operator over Distribution: draw(generator) is each element.
template <class Draw>
Status draw_all(RunScope& scope, Draw&& draw) {
  MICA_TRY_STATUS(allocate_distribution(scope));
  Mersenne generator(static_cast<uint64_t>(scope.attributes<Distribution>().seed));
  const Elements out(scope.out(0));
  for (int64_t i = 0, n = scope.out(0).count(); i < n; ++i) out.set_number(i, draw(generator));
  return {};
}

}  // namespace random
}  // namespace mica
