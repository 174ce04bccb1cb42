// A map comes as two lists, its keys and its values; their order is the caller's.
#include "ops/ml/map_row.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& attributes = scope.attributes<MapRow>();
  MICA_CHECK(scope.dtype(0) == DType::kI64, kBadType, "keys of type {}: those that tell places are i64",
             name_of(scope.dtype(0)));
  MICA_CHECK(!is_sub_byte(scope.dtype(1)), kBadType, "map_row of {}", name_of(scope.dtype(1)));
  if (attributes.text) MICA_TRY_STATUS(require_float(scope, 1));
  for (int i = 0; i < 2; ++i)
    MICA_CHECK(!scope.shape(i).known() || scope.shape(i).rank == 1, kBadRank, "keys and values are lists");
  Shape row = Shape::of_rank(0);
  row.push(1);
  if (attributes.size >= 0) {
    row.push(attributes.size);
  } else {
    const int known = scope.shape(0).known() ? 0 : 1;
    row.push(scope.shape(known).known() ? scope.shape(known)[0] : scope.dims().fresh("entries"));
  }
  scope.out(0, attributes.text ? DType::kString : scope.dtype(1), row);
  return {};
}

// The indices of the keys by rising key. Errors: kBadValue for a key that comes twice.
Result<const int64_t*> rising(RunScope& scope, const Elements& keys, int64_t count) {
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(count) * sizeof(int64_t)));
  auto* order = static_cast<int64_t*>(memory);
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  std::sort(order, order + count, [&](int64_t a, int64_t b) { return keys.integer(a) < keys.integer(b); });
  for (int64_t i = 1; i < count; ++i)
    MICA_CHECK(keys.integer(order[i]) != keys.integer(order[i - 1]), kBadValue, "the key {} comes twice",
               keys.integer(order[i]));
  return order;
}

Status store(RunScope& scope, const Elements& values, int64_t from, const Elements& to, int64_t at) {
  if (!scope.attributes<MapRow>().text) {
    std::memcpy(to.address(at), values.address(from), static_cast<size_t>(element_bytes(to.dtype())));
    return {};
  }
  char text[400];  // the largest double has 309 digits before the point
  const auto end = std::to_chars(text, text + sizeof text, values.number(from), std::chars_format::fixed, 6).ptr;
  MICA_TRY(to.text(at), scope.keep({text, static_cast<size_t>(end - text)}));
  return {};
}

// What stands where no key points: zeros; of texts the one that ONNX Runtime has there.
Status clear(RunScope& scope, const TensorView& row) {
  const Elements to(row);
  for (int64_t i = 0, count = row.count(); i < count; ++i) {
    if (row.dtype == DType::kString) {
      MICA_TRY(to.text(i), scope.keep("0.f"));
    } else {
      std::memset(to.address(i), 0, static_cast<size_t>(element_bytes(row.dtype)));
    }
  }
  return {};
}

Status reference(RunScope& scope) {
  const int64_t size = scope.attributes<MapRow>().size, count = scope.in(0).count();
  MICA_CHECK(scope.in(1).count() == count, kBadShape, "{} keys with {} values", count, scope.in(1).count());
  const int64_t dims[] = {1, size < 0 ? count : size};
  MICA_TRY_STATUS(scope.allocate_output(0, dims));
  const Elements keys(scope.in(0)), values(scope.in(1)), row(scope.out(0));
  MICA_TRY(const int64_t* order, rising(scope, keys, count));
  if (size >= 0) MICA_TRY_STATUS(clear(scope, scope.out(0)));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t key = keys.integer(order[i]);
    MICA_CHECK(size < 0 || key >= 0, kBadValue, "the key {} is negative: it tells a place in a row", key);
    if (size >= 0 && key >= size) break;
    MICA_TRY_STATUS(store(scope, values, order[i], row, size < 0 ? i : key));
  }
  return {};
}

}  // namespace

MICA_OP(map_row) = {
    .name = "map_row",
    .doc = "the values of a map as a row: by rising key, or each at the place that its key says, where that is there",
    .inputs = {2, 2},
    .attributes = attr_class<MapRow>(),
    .infer = infer,
    .reference = reference,
    .takes_objects = true};

}  // namespace mica
