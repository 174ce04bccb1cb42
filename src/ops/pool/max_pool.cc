#include <cmath>
#include <limits>

#include "ops/pool/pool.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY(const Shape shape, pool::output_shape(scope, scope.attributes<MaxPool>()));
  const DType dtype = scope.dtype(0);
  MICA_CHECK(is_float(dtype) || is_integer(dtype), kBadType, "a maximum of {}", name_of(dtype));
  scope.out(0, dtype, shape);
  scope.out(1, DType::kI64, shape);
  return {};
}

double lowest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  return kind_of(dtype) == NumberKind::kUnsigned ? 0 : -std::ldexp(1, bits_of(dtype) - 1);
}

// The first of equal elements counts; NaN counts as the largest.
Status reference(RunScope& scope) {
  const auto& a = scope.attributes<MaxPool>();
  MICA_TRY(const pool::Sizes s, pool::prepare(scope, a));
  MICA_TRY(const int64_t* table, window_table(scope, s.window));
  MICA_TRY(const double* x, dense_numbers(scope, scope.in(0)));
  const double least = lowest(scope.in(0).dtype);
  const Elements y(scope.out(0)), indices(scope.wants(1) ? scope.out(1) : TensorView());
  const int64_t pixels = s.window.pixels();
  double best = least;
  int64_t place = -1;
  return pool::for_each_window(
      scope, s, table,
      [&](int64_t at) {
        const double v = x[at];
        if (place >= 0 && !(v > best || (std::isnan(v) && !std::isnan(best)))) return;
        best = v;
        place = at;
      },
      [&](int64_t window) {
        y.set_number(window, best);
        if (scope.wants(1)) {
          const int64_t plane = place < 0 ? 0 : place / pixels * pixels;
          indices.set_integer(
              window, place < 0 || !a.column_major ? place : plane + pool::column_major(s.window, place - plane));
        }
        best = least;
        place = -1;
      });
}

}  // namespace

MICA_OP(max_pool) = {.name = "max_pool",
                     .doc = "largest element of each window of x [N,C,...]; the second output is where it stands in x",
                     .outputs = {1, 2},
                     .attributes = attr_class<MaxPool>(),
                     .infer = infer,
                     .reference = reference,
                     .flops = pool::flops_of<MaxPool>,
                     .layout = LayoutRule::kChannelsLast};

}  // namespace mica
