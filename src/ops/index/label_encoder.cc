// Inputs: elements of any shape, the keys, their values, and the value of elements that are no key.
#include <algorithm>
#include <cstring>

#include "ops/index/order.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 1));
  MICA_TRY_STATUS(require_same_dtype(scope, 2, 3));
  scope.out(0, scope.dtype(2), scope.shape(0));
  return {};
}

// The indices of the keys by rising key; of equal keys the first comes first.
Result<const int64_t*> sorted_keys(RunScope& scope, const TensorView& keys) {
  const int64_t count = keys.count();
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(count) * sizeof(int64_t)));
  auto* order = static_cast<int64_t*>(memory);
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  const Elements elements(keys);
  std::sort(order, order + count, [&](int64_t a, int64_t b) {
    const int c = compare_elements(keys.dtype, elements.address(a), elements.address(b));
    return c ? c < 0 : a < b;
  });
  return order;
}

Status reference(RunScope& scope) {
  const TensorView &in = scope.in(0), &keys = scope.in(1), &values = scope.in(2), &otherwise = scope.in(3);
  const int64_t count = keys.count();
  MICA_CHECK(values.count() == count, kBadShape, "{} keys with {} values", count, values.count());
  MICA_CHECK(otherwise.count() == 1, kBadShape, "the default has {} elements", otherwise.count());
  MICA_CHECK(!is_sub_byte(in.dtype) && !is_sub_byte(values.dtype), kBadType, "label_encoder of {}", name_of(in.dtype));
  MICA_TRY_STATUS(scope.allocate_output(0, in.shape()));
  MICA_TRY(const int64_t* order, sorted_keys(scope, keys));
  const Elements from(in), key(keys), value(values), to(scope.out(0));
  const auto bytes = static_cast<size_t>(element_bytes(values.dtype));
  for (int64_t i = 0, total = in.count(); i < total; ++i) {
    const char* element = from.address(i);
    const int64_t* hit = std::partition_point(
        order, order + count, [&](int64_t k) { return compare_elements(keys.dtype, key.address(k), element) < 0; });
    const bool found = hit != order + count && compare_elements(keys.dtype, key.address(*hit), element) == 0;
    std::memcpy(to.address(i), found ? value.address(*hit) : Elements(otherwise).address(0), bytes);
  }
  return {};
}

}  // namespace

MICA_OP(label_encoder) = {.name = "label_encoder",
                          .doc = "For each element the value that stands beside its key, or a default",
                          .inputs = {4, 4},
                          .infer = infer,
                          .reference = reference};

}  // namespace mica
