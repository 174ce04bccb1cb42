#include <cmath>

#include "types/operand.h"

namespace mica {
namespace {

// max(0, ceil((limit - start) / delta)). Errors: kBadValue.
Result<int64_t> count_of(double start, double limit, double delta) {
  MICA_CHECK(delta != 0, kBadValue, "a range with a step of 0");
  const double count = std::ceil((limit - start) / delta);
  MICA_CHECK(!std::isnan(count) && count < 1e15, kBadValue, "a range from {} to {} by {} has no end", start, limit,
             delta);
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

Result<int64_t> count_of(int64_t start, int64_t limit, int64_t delta) {
  MICA_CHECK(delta != 0, kBadValue, "a range with a step of 0");
  if (delta > 0 ? start >= limit : start <= limit) return int64_t{0};
  const uint64_t span = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                  : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
  const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
  const uint64_t count = span / step + (span % step != 0);
  MICA_CHECK(count <= uint64_t{1} << 50, kBadValue, "a range from {} to {} by {} is too long", start, limit, delta);
  return static_cast<int64_t>(count);
}

Status infer(InferScope& scope) {
  MICA_CHECK(is_float(scope.dtype(0)) || is_integer(scope.dtype(0)), kBadType, "range of {}: it takes numbers",
             name_of(scope.dtype(0)));
  for (int i = 0; i < 3; ++i) {
    MICA_TRY_STATUS(require_same_dtype(scope, 0, i));
    MICA_CHECK(!scope.shape(i).known() || scope.shape(i).rank <= 1, kBadRank, "input {} of range must be one number",
               i);
  }
  Dim count;
  std::span<const Dim> start, limit, delta;
  double numbers[3];
  if (is_integer(scope.dtype(0)) && scope.known_dims(0, start) && scope.known_dims(1, limit) &&
      scope.known_dims(2, delta) && start.size() == 1 && limit.size() == 1 && delta.size() == 1 &&
      delta[0].is_fixed()) {
    const int64_t step = delta[0].value();
    MICA_CHECK(step != 0, kBadValue, "a range with a step of 0");
    DimTable& dims = scope.dims();
    if (start[0].is_fixed() && limit[0].is_fixed()) {
      MICA_TRY(count, count_of(start[0].value(), limit[0].value(), step));
    } else {
      const Dim span = step > 0 ? dims.sub(limit[0], start[0]) : dims.sub(start[0], limit[0]);
      count = dims.max(dims.ceil_div(span, step > 0 ? step : -step), 0);
    }
  } else if (!is_integer(scope.dtype(0)) && scope.scalar(0, numbers[0]) && scope.scalar(1, numbers[1]) &&
             scope.scalar(2, numbers[2])) {
    MICA_TRY(count, count_of(numbers[0], numbers[1], numbers[2]));
  } else {
    count = scope.dims().fresh("range");
  }
  scope.out(0, scope.dtype(0), Shape{count});
  return {};
}

// start + i · delta, modulo the type's width where it is an integer.
template <class T, class Number>
void fill(const TensorView& out, Number start, Number delta) {
  T* to = out.as<T>();
  const int64_t count = out.count();
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(start + static_cast<Number>(i) * delta);
}
// False for types and strides that are left to a slower loop.
template <class Number>
bool fill_common(const TensorView& out, Number start, Number delta) {
  if (!out.contiguous()) return false;
  switch (out.dtype) {
    case DType::kI64: fill<int64_t>(out, start, delta); return true;
    case DType::kI32: fill<int32_t>(out, start, delta); return true;
    case DType::kF32: fill<float>(out, start, delta); return true;
    default: return false;
  }
}

Status reference(RunScope& scope) {
  const DType dtype = scope.in(0).dtype;
  if (is_integer(dtype)) {
    MICA_TRY(const int64_t start, read_int(scope.in(0), "start"));
    MICA_TRY(const int64_t limit, read_int(scope.in(1), "limit"));
    MICA_TRY(const int64_t delta, read_int(scope.in(2), "delta"));
    MICA_TRY(const int64_t count, count_of(start, limit, delta));
    MICA_TRY_STATUS(scope.allocate_output(0, std::span(&count, 1)));
    if (fill_common(scope.out(0), static_cast<uint64_t>(start), static_cast<uint64_t>(delta))) return {};
    const Elements out(scope.out(0));
    for (int64_t i = 0; i < count; ++i)
      out.set_integer(i, static_cast<int64_t>(static_cast<uint64_t>(start) +
                                              static_cast<uint64_t>(i) * static_cast<uint64_t>(delta)));
    return {};
  }
  MICA_TRY(const double start, read_number(scope.in(0), "start"));
  MICA_TRY(const double limit, read_number(scope.in(1), "limit"));
  MICA_TRY(const double delta, read_number(scope.in(2), "delta"));
  MICA_TRY(const int64_t count, count_of(start, limit, delta));
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(&count, 1)));
  if (fill_common(scope.out(0), start, delta)) return {};
  const Elements out(scope.out(0));
  for (int64_t i = 0; i < count; ++i) out.set_number(i, start + static_cast<double>(i) * delta);
  return {};
}

}  // namespace

MICA_OP(range) = {.name = "range",
                  .doc = "start, start + delta, … before limit",
                  .inputs = {3, 3},
                  .infer = infer,
                  .reference = reference};

}  // namespace mica
