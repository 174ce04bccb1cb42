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

// Whole numbers, dense: keys and the places of their values side by side, by rising key.
struct NumberedKey {
  int64_t key, place;
};
Status encode_numbers(RunScope& scope) {
  const TensorView &in = scope.in(0), &keys = scope.in(1);
  const Elements value(scope.in(2));
  const char* otherwise = Elements(scope.in(3)).address(0);
  const auto bytes = static_cast<size_t>(element_bytes(scope.in(2).dtype));
  const int64_t count = keys.count(), total = in.count();
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(count) * sizeof(NumberedKey)));
  auto* table = static_cast<NumberedKey*>(memory);
  for (int64_t i = 0; i < count; ++i) table[i] = {keys.as<int64_t>()[i], i};
  std::sort(table, table + count, [](const NumberedKey& a, const NumberedKey& b) {
    return a.key < b.key || (a.key == b.key && a.place < b.place);
  });
  auto* to = static_cast<char*>(scope.out(0).data);
  for (int64_t i = 0; i < total; ++i, to += bytes) {
    const int64_t element = in.as<int64_t>()[i];
    const NumberedKey* hit =
        std::partition_point(table, table + count, [&](const NumberedKey& k) { return k.key < element; });
    std::memcpy(to, hit != table + count && hit->key == element ? value.address(hit->place) : otherwise, bytes);
  }
  return {};
}

Status reference(RunScope& scope) {
  const TensorView &in = scope.in(0), &keys = scope.in(1), &values = scope.in(2), &otherwise = scope.in(3);
  const int64_t count = keys.count();
  MICA_CHECK(values.count() == count, kBadShape, "{} keys with {} values", count, values.count());
  MICA_CHECK(otherwise.count() == 1, kBadShape, "the default has {} elements", otherwise.count());
  MICA_CHECK(!is_sub_byte(in.dtype) && !is_sub_byte(values.dtype), kBadType, "label_encoder of {}", name_of(in.dtype));
  MICA_TRY_STATUS(scope.allocate_output(0, in.shape()));
  const Elements from(in), key(keys), value(values), to(scope.out(0));
  const auto bytes = static_cast<size_t>(element_bytes(values.dtype));
  if (in.dtype == DType::kI64 && in.contiguous() && keys.contiguous() && scope.out(0).contiguous())
    return encode_numbers(scope);
  MICA_TRY(const int64_t* order, sorted_keys(scope, keys));
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
