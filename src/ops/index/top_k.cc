#include "ops/index/top_k.h"

#include <algorithm>

#include "ops/index/order.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_CHECK(is_float(scope.dtype(0)) || is_integer(scope.dtype(0)), kBadType, "top_k of {}: it takes numbers",
             name_of(scope.dtype(0)));
  Shape out = scope.shape(0);
  if (out.known()) {
    MICA_TRY(const int axis, normalize_axis(scope.attributes<TopK>().axis, out.rank));
    std::span<const Dim> k;
    const Dim count = scope.known_dims(1, k) && k.size() == 1 ? k[0] : scope.dims().fresh("k");
    const bool fits =
        !count.is_fixed() || !out[axis].is_fixed() || (count.value() >= 0 && count.value() <= out[axis].value());
    MICA_CHECK(fits, kBadValue, "the top {} of {} elements", count.value(), out[axis].value());
    out[axis] = count;
  }
  scope.out(0, scope.dtype(0), out);
  scope.out(1, DType::kI64, out);
  return {};
}

// Writes the first k of `order` (all indices of one lane) as they rank; ties go to the lower index.
template <class Key>
void rank_lane(const Key* keys, int64_t* order, int64_t n, int64_t k, bool largest) {
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  const auto before = [&](int64_t a, int64_t b) {
    int c;
    if constexpr (std::is_same_v<Key, double>)
      c = compare_numbers(keys[a], keys[b]);
    else
      c = (keys[a] > keys[b]) - (keys[a] < keys[b]);
    return c == 0 ? a < b : largest ? c > 0 : c < 0;
  };
  std::partial_sort(order, order + k, order + n, before);
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<TopK>();
  const TensorView& in = scope.in(0);
  MICA_TRY(const int axis, normalize_axis(attributes.axis, in.rank));
  MICA_CHECK(is_float(in.dtype) || is_integer(in.dtype), kBadType, "top_k of {}", name_of(in.dtype));
  MICA_TRY(const int64_t k, read_int(scope.in(1), "k"));
  const int64_t n = in.dim(axis);
  MICA_CHECK(k >= 0 && k <= n, kBadValue, "the top {} of {} elements", k, n);
  TensorView shape = in;
  shape.dims[static_cast<size_t>(axis)] = k;
  for (int i = 0; i < 2; ++i)
    if (scope.wants(i)) MICA_TRY_STATUS(scope.allocate_output(i, shape.shape()));
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(n) * 2 * sizeof(int64_t)));
  auto* order = static_cast<int64_t*>(memory);
  void* keys = order + n;
  const Elements elements(in);
  const bool real = is_float(in.dtype), no_sign = in.dtype == DType::kU64;
  TensorView lanes = in;
  lanes.dims[static_cast<size_t>(axis)] = 1;
  int64_t at[kMaxRank] = {};
  if (!shape.empty()) do {
      MICA_TRY_STATUS(scope.check_stop());
      for (int64_t i = 0; i < n; ++i) {
        at[axis] = i;
        if (real)
          static_cast<double*>(keys)[i] = elements.number_at(at);
        else
          static_cast<int64_t*>(keys)[i] =
              elements.integer_at(at) ^ (no_sign ? INT64_MIN : 0);  // keeps the unsigned order
      }
      if (real)
        rank_lane(static_cast<const double*>(keys), order, n, k, attributes.largest);
      else
        rank_lane(static_cast<const int64_t*>(keys), order, n, k, attributes.largest);
      for (int64_t i = 0; i < k; ++i) {
        at[axis] = i;
        if (scope.wants(1)) Elements(scope.out(1)).set_integer_at(at, order[i]);
        if (!scope.wants(0)) continue;
        if (real)
          Elements(scope.out(0)).set_number_at(at, static_cast<const double*>(keys)[order[i]]);
        else
          Elements(scope.out(0))
              .set_integer_at(at, static_cast<const int64_t*>(keys)[order[i]] ^ (no_sign ? INT64_MIN : 0));
      }
      at[axis] = 0;
    } while (next_index(at, lanes.shape()));
  return {};
}

}  // namespace

MICA_OP(top_k) = {
    .name = "top_k",
    .doc = "The k largest or smallest elements along an axis and their indices; NaN ranks above all numbers",
    .inputs = {2, 2},
    .outputs = {2, 2},
    .attributes = attr_class<TopK>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
