#include "types/dense.h"

namespace mica {
namespace {

template <class T>
Result<T*> room(RunScope& scope, int64_t count) {
  size_t bytes = 0;
  MICA_CHECK(count >= 0 && !__builtin_mul_overflow(static_cast<size_t>(count), sizeof(T), &bytes), kBadShape,
             "{} elements are too many", count);
  MICA_TRY(void* place, scope.allocate(bytes ? bytes : sizeof(T)));
  return static_cast<T*>(place);
}

template <class T>
Result<T*> zeros(RunScope& scope, int64_t count) {
  MICA_TRY(T * list, room<T>(scope, count));
  std::fill_n(list, count, T(0));
  return list;
}

}  // namespace

Result<double*> dense_numbers(RunScope& scope, const TensorView& view) {
  const int64_t count = view.count();
  MICA_TRY(double* list, room<double>(scope, count));
  if (view.dtype == DType::kF32 && view.contiguous()) {
    const float* from = view.as<const float>();
    for (int64_t i = 0; i < count; ++i) list[i] = static_cast<double>(from[i]);
    return list;
  }
  const Elements elements(view);
  for (int64_t i = 0; i < count; ++i) list[i] = elements.number(i);
  return list;
}

Result<int64_t*> dense_integers(RunScope& scope, const TensorView& view) {
  const int64_t count = view.count();
  MICA_TRY(int64_t * list, room<int64_t>(scope, count));
  const Elements elements(view);
  for (int64_t i = 0; i < count; ++i) list[i] = elements.integer(i);
  return list;
}

Result<double*> zero_numbers(RunScope& scope, int64_t count) { return zeros<double>(scope, count); }
Result<int64_t*> zero_integers(RunScope& scope, int64_t count) { return zeros<int64_t>(scope, count); }

void store_dense(const double* numbers, const TensorView& view) {
  const Elements elements(view);
  for (int64_t i = 0, n = view.count(); i < n; ++i) elements.set_number(i, numbers[i]);
}

void store_dense(const int64_t* integers, const TensorView& view) {
  const Elements elements(view);
  for (int64_t i = 0, n = view.count(); i < n; ++i) elements.set_integer(i, integers[i]);
}

Status allocate_output(RunScope& scope, int i, std::initializer_list<int64_t> dims) {
  return scope.allocate_output(i, std::span(dims.begin(), dims.size()));
}

}  // namespace mica
