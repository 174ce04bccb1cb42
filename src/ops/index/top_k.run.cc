#include "ops/index/top_k.h"

#include <algorithm>
#include <bit>

#include "step/run.h"
#include "types/operand.h"

namespace mica {
namespace {

// A dense tensor [before, n, behind], searched along the middle axis: lane by lane.
struct TopKStep {
  int64_t lanes, n, behind, k;
  bool largest;
  int values, places;  // operands, or -1
};

// Numbers in the order of elements: NaN above all, both zeros alike.
uint32_t rank_of(float x) {
  const auto bits = std::bit_cast<int32_t>(x + 0.0F);
  const auto rank = static_cast<uint32_t>(bits ^ (bits >> 31 | INT32_MIN));
  return x != x ? UINT32_MAX : rank;
}
uint32_t rank_of(int32_t x) { return static_cast<uint32_t>(x) ^ 1U << 31; }

// The k best keys first, the k-th one at its place; and in order: the same code for every type.
__attribute__((noinline)) void select_keys(uint64_t* keys, int64_t k, int64_t count) {
  if (k < count / 8)
    std::partial_sort(keys, keys + k, keys + count);
  else
    std::nth_element(keys, keys + k - 1, keys + count);
}
__attribute__((noinline)) void sort_keys(uint64_t* keys, int64_t k) { std::sort(keys, keys + k); }

// An element's rank, the best the least, above its index: ties go to the lower one.
template <class T>
uint64_t key_of(T x, int64_t i, bool largest) {
  const uint32_t rank = rank_of(x);
  return static_cast<uint64_t>(largest ? ~rank : rank) << 32 | static_cast<uint64_t>(i);
}

// Of numbers that are behind this one none is among the k best: the k-th best of the best of so many groups, element i
// being in group i modulo their number. Whatever a NaN keeps from being a group's best, that is one of its elements.
constexpr int64_t kMostGroups = 1024, kRounds = 16;  // further elements would hardly better the bound
template <class T>
T bound_of(const T* x, const TopKStep& step, int64_t groups, uint64_t* keys) {
  T best[kMostGroups];
  std::copy_n(x, groups, best);
  const int64_t end = std::min(step.n, kRounds * groups);
  for (int64_t at = groups; at + groups <= end; at += groups)
    for (int64_t i = 0; i < groups; ++i) {
      const T one = x[at + i], other = best[i];
      best[i] = (step.largest ? one > other : one < other) ? one : other;
    }
  for (int64_t i = 0; i < groups; ++i) keys[i] = key_of(best[i], i, step.largest);
  select_keys(keys, step.k, groups);
  return best[keys[step.k - 1] & UINT32_MAX];
}

// Keys of a lane, the k best first.
template <class T>
void best_keys(const T* in, const TopKStep& step, uint64_t* keys) {
  const int64_t n = step.n, k = step.k;
  int64_t count = n;
  if (n <= 4 * k + 128) {
    for (int64_t i = 0; i < n; ++i) keys[i] = key_of(in[i * step.behind], i, step.largest);
  } else {
    // Those that are not behind the k-th best so far, some times as many before the best of them are told.
    const int64_t room = 4 * k + 24;
    int64_t groups = 64;
    while (groups < 2 * k && groups < kMostGroups) groups *= 2;
    bool bounded = step.behind == 1 && groups >= 2 * k && n >= 4 * groups;
    T worst = bounded ? bound_of(in, step, groups, keys) : T();  // most are behind it, and need no key
    uint64_t limit = UINT64_MAX;
    count = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T x = in[i * step.behind];
      if (bounded && (step.largest ? x < worst : x > worst)) continue;
      const uint64_t key = key_of(x, i, step.largest);
      if (key >= limit) continue;
      keys[count++] = key;
      if (count < room) continue;
      select_keys(keys, k, count);
      limit = keys[k - 1];
      worst = in[static_cast<int64_t>(limit & UINT32_MAX) * step.behind];
      bounded = true;
      count = k;
    }
  }
  if (count > k) select_keys(keys, k, count);
}

template <class T>
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const TopKStep*>(arguments);
  auto* keys = static_cast<uint64_t*>(range.scratch);
  for (int64_t lane = range.begin; lane < range.end; ++lane) {
    const int64_t outer = lane / step.behind, inner = lane % step.behind;
    const T* in = static_cast<const T*>(operands[0]) + outer * step.n * step.behind + inner;
    best_keys(in, step, keys);
    sort_keys(keys, step.k);
    const int64_t to = outer * step.k * step.behind + inner;
    for (int64_t i = 0; i < step.k; ++i) {
      const auto index = static_cast<int64_t>(keys[i] & UINT32_MAX);
      if (step.values >= 0) static_cast<T*>(operands[step.values])[to + i * step.behind] = in[index * step.behind];
      if (step.places >= 0) static_cast<int64_t*>(operands[step.places])[to + i * step.behind] = index;
    }
  }
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& attributes = scope.attributes<TopK>();
  const TensorView &in = scope.input(0).view, &count = scope.input(1).view;
  if ((in.dtype != DType::kF32 && in.dtype != DType::kI32) || in.rank == 0 || !in.contiguous()) return false;
  if (!scope.input(1).constant || !count.data || count.rank > 1 || count.count() != 1) return false;
  if (count.dtype != DType::kI64 && count.dtype != DType::kI32) return false;
  MICA_TRY(const int axis, normalize_axis(attributes.axis, in.rank));
  MICA_TRY(TopKStep * step, scope.arguments<TopKStep>());
  *step = {1, in.dim(axis), 1, load_int(count.dtype, count.data), attributes.largest, -1, -1};
  if (step->k < 1 || step->k > step->n || step->n > INT32_MAX) return false;
  for (int i = 0; i < in.rank; ++i) {
    if (i != axis) step->lanes *= in.dim(i);
    if (i > axis) step->behind *= in.dim(i);
  }
  if (step->lanes == 0) return false;
  for (int o = 0; o < 2; ++o) {
    if (o >= static_cast<int>(scope.outputs.size()) || !scope.output(o).present) continue;
    if (!scope.output(o).view.contiguous()) return false;
    (o == 0 ? step->values : step->places) = static_cast<int>(scope.inputs.size()) + o;
  }
  MICA_TRY_STATUS(scope.add({.kernel = in.dtype == DType::kF32 ? run<float> : run<int32_t>,
                             .arguments = step,
                             .tasks = step->lanes,
                             .work = 4 * static_cast<double>(in.count()),
                             .scratch_bytes = static_cast<size_t>(step->n) * sizeof(uint64_t),
                             .name = "top_k"}));
  return true;
}

}  // namespace

MICA_RUN(top_k) = {.bind = bind};

}  // namespace mica
