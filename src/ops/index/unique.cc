#include "ops/index/unique.h"

#include <algorithm>

#include "ops/index/order.h"
#include "types/stop.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_CHECK(kind_of(scope.dtype(0)) != NumberKind::kComplex, kBadType, "unique of {}: complex numbers have no order",
             name_of(scope.dtype(0)));
  const auto& attributes = scope.attributes<Unique>();
  const Dim found = scope.dims().fresh("unique");
  Shape out = attributes.flat ? Shape{found} : scope.shape(0);
  Shape inverse{scope.dims().fresh("items")};
  if (scope.shape(0).known()) {
    MICA_TRY(const int axis, normalize_axis(attributes.flat ? 0 : attributes.axis, attributes.flat ? 1 : out.rank));
    inverse[0] = attributes.flat ? scope.dims().product(scope.shape(0).span()) : scope.shape(0)[axis];
    out[axis] = found;
  }
  scope.out(0, scope.dtype(0), out);
  scope.out(1, DType::kI64, Shape{found});
  scope.out(2, DType::kI64, inverse);
  scope.out(3, DType::kI64, Shape{found});
  return {};
}

// The items that are compared: slices along the first axis of `view`, of `size` elements each.
struct Items {
  TensorView view;
  int64_t count, size;
  int compare(int64_t a, int64_t b) const {
    const Elements elements(view);
    for (int64_t j = 0; j < size; ++j)
      if (const int c = compare_elements(view.dtype, elements.address(a * size + j), elements.address(b * size + j)))
        return c;
    return 0;
  }
};

Result<Items> items_of(RunScope& scope, const Unique& attributes, int& axis) {
  MICA_TRY(const TensorView in, wide_input(scope, 0));
  MICA_CHECK(kind_of(in.dtype) != NumberKind::kComplex, kBadType, "unique of {}", name_of(in.dtype));
  axis = 0;
  if (attributes.flat) return Items{in, in.count(), 1};
  MICA_TRY(axis, normalize_axis(attributes.axis, in.rank));
  Ints order{axis};
  for (int i = 0; i < in.rank; ++i)
    if (i != axis) order.push(i);
  Items items{permute_axes(in, order.span()), in.dim(axis), 1};
  for (int i = 0; i < in.rank; ++i)
    if (i != axis) items.size *= in.dim(i);
  return items;
}

// `first[g]` is where group g occurs first, `count[g]` how often, `group[i]` the group of item i.
struct Groups {
  int64_t *first, *count, *group;
};

// Sorts the items' numbers by merging, equal items as they come: a comparison looks at whole slices, so that `stop` is
// asked on the way, which no sorting function of the library allows. `spare` has the same room.
Result<int64_t*> sorted_order(const Items& items, int64_t* order, int64_t* spare, StopCheck& stop) {
  const int64_t n = items.count;
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t width = 1; width < n; width *= 2, std::swap(order, spare))
    for (int64_t begin = 0; begin < n; begin += 2 * width) {
      const int64_t middle = std::min(begin + width, n), end = std::min(middle + width, n);
      for (int64_t to = begin, a = begin, b = middle; to < end; ++to) {
        MICA_TRY_STATUS(stop.before(items.size));
        const bool left = b == end || (a < middle && items.compare(order[a], order[b]) <= 0);
        spare[to] = left ? order[a++] : order[b++];
      }
    }
  return order;
}

// Groups equal items; each list has room for one number an item, scratch for two. Returns the number of groups.
Result<int64_t> group_items(RunScope& scope, const Items& items, bool sorted, const Groups& into, int64_t* scratch) {
  const auto [first, count, group] = into;
  const int64_t n = items.count;
  StopCheck stop(scope);
  MICA_TRY(int64_t* const order, sorted_order(items, scratch, scratch + n, stop));
  int64_t* const rank = order == scratch ? scratch + n : scratch;
  int64_t groups = 0;
  for (int64_t i = 0; i < n; ++i) {
    MICA_TRY_STATUS(stop.before(items.size));
    if (i == 0 || items.compare(order[i - 1], order[i]) != 0) {
      first[groups] = order[i];
      count[groups++] = 0;
    }
    ++count[groups - 1];
    group[order[i]] = groups - 1;
  }
  if (sorted) return groups;
  // Renumber by first occurrence: walk the items and number each group when it comes up.
  std::fill(rank, rank + n, -1);
  int64_t next = 0;
  for (int64_t i = 0; i < n; ++i)
    if (rank[group[i]] < 0) rank[group[i]] = next++;
  for (int64_t i = 0; i < n; ++i) group[i] = rank[group[i]];
  std::fill(count, count + groups, 0);
  for (int64_t i = n; i-- > 0;) {
    first[group[i]] = i;
    ++count[group[i]];
  }
  return groups;
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<Unique>();
  int axis = 0;
  MICA_TRY(const Items items, items_of(scope, attributes, axis));
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(items.count) * 5 * sizeof(int64_t)));
  auto* first = static_cast<int64_t*>(memory);
  int64_t *count = first + items.count, *group = count + items.count, *scratch = group + items.count;
  MICA_TRY(const int64_t groups, group_items(scope, items, attributes.sorted, {first, count, group}, scratch));
  const int64_t* lists[] = {nullptr, first, group, count};
  for (int i = 1; i < 4; ++i) {
    if (!scope.wants(i)) continue;
    const int64_t length = i == 2 ? items.count : groups;
    MICA_TRY_STATUS(scope.allocate_output(i, std::span(&length, 1)));
    for (int64_t k = 0; k < length; ++k) Elements(scope.out(i)).set_integer(k, lists[i][k]);
  }
  if (!scope.wants(0)) return {};
  TensorView shape = scope.in(0);
  if (attributes.flat) shape.rank = 1;
  shape.dims[static_cast<size_t>(axis)] = groups;
  MICA_TRY_STATUS(scope.allocate_output(0, shape.shape()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  const Elements from(items.view);
  const auto bytes = static_cast<size_t>(element_bytes(out.dtype));
  if (attributes.flat) {
    for (int64_t g = 0; g < groups; ++g) std::copy_n(from.address(first[g]), bytes, Elements(out).address(g));
  } else {
    MICA_TRY(const TensorView in, wide_input(scope, 0));
    for (int64_t g = 0; g < groups; ++g) copy_elements(slice_axis(in, axis, first[g], 1), slice_axis(out, axis, g, 1));
  }
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(unique) = {
    .name = "unique",
    .doc = "The different elements (or slices), where each occurs first, which one each item is, and how often",
    .outputs = {1, 4},
    .attributes = attr_class<Unique>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
