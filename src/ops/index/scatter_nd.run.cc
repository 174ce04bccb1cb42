// Constant indices that walk over a box of the data make a strided copy of the updates; others are followed tuple by
// tuple, in order, so that later updates win.
#include <algorithm>
#include <cstring>

#include "ops/index/scatter_kernel.h"
#include "step/copy_step.h"

namespace mica {
namespace {

// Indices, updates and the result are dense. Sizes and strides, in elements, are of the axes that tuples index.
struct ScatterNdStep {
  move::CopyStep copy;  // of the data to the result
  int64_t count, tuple, slice;
  int64_t sizes[kMaxRank], strides[kMaxRank];
  int64_t element;  // bytes
  int64_t part;     // elements of a slice that are a task: tasks never write the same element
  bool narrow;      // i32 indices
  int out;
};

constexpr int64_t kBlock = 256;            // tuples whose places are known at a time
constexpr int64_t kPartBytes = 16 * 1024;  // of a slice

// Where the slices of tuples first to first + count - 1 begin, in elements. False when an index is out of range.
template <class Index>
bool places_of(const ScatterNdStep& step, const Index* indices, int64_t count, int64_t* places) {
  bool inside = true;
  for (int64_t n = 0; n < count; ++n) {
    int64_t place = 0;
    for (int64_t k = 0; k < step.tuple; ++k) {
      const auto index = static_cast<int64_t>(indices[n * step.tuple + k]);
      inside &= index >= -step.sizes[k] && index < step.sizes[k];
      place += static_cast<int64_t>(static_cast<uint64_t>(index < 0 ? index + step.sizes[k] : index) *
                                    static_cast<uint64_t>(step.strides[k]));
    }
    places[n] = place;
  }
  return inside;
}

bool places_of(const ScatterNdStep& step, const void* indices, int64_t first, int64_t count, int64_t* places) {
  return step.narrow ? places_of(step, static_cast<const int32_t*>(indices) + first * step.tuple, count, places)
                     : places_of(step, static_cast<const int64_t*>(indices) + first * step.tuple, count, places);
}

// Before the data is copied: a run that fails writes nothing.
Status check_indices(const void* arguments, void* const* operands) {
  const auto& step = *static_cast<const ScatterNdStep*>(arguments);
  int64_t places[kBlock];
  for (int64_t first = 0; first < step.count; first += kBlock) {
    const int64_t count = std::min(kBlock, step.count - first);
    if (places_of(step, operands[1], first, count, places)) continue;
    for (int64_t i = first * step.tuple; i < (first + count) * step.tuple; ++i) {
      const int64_t index =
          step.narrow ? static_cast<const int32_t*>(operands[1])[i] : static_cast<const int64_t*>(operands[1])[i];
      MICA_TRY_STATUS(checked_index(index, step.sizes[i % step.tuple], "index"));
    }
  }
  return {};
}

void copy_data(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const ScatterNdStep*>(arguments);
  if (operands[step.copy.from] != operands[step.copy.to]) move::run_copy_step(&step.copy, operands, range);
}

template <class T, Reduction reduction>
void scatter(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const ScatterNdStep*>(arguments);
  const auto* updates = static_cast<const T*>(operands[2]);
  auto* out = static_cast<T*>(operands[step.out]);
  const int64_t begin = range.begin * step.part, length = std::min(range.end * step.part, step.slice) - begin;
  int64_t places[kBlock];
  for (int64_t first = 0; first < step.count; first += kBlock) {
    const int64_t count = std::min(kBlock, step.count - first);
    places_of(step, operands[1], first, count, places);
    if (step.slice == 1) {
      for (int64_t n = 0; n < count; ++n) out[places[n]] = reduced<reduction>(out[places[n]], updates[first + n]);
      continue;
    }
    for (int64_t n = 0; n < count; ++n) {
      T* to = out + places[n] + begin;
      const T* from = updates + (first + n) * step.slice + begin;
      if constexpr (reduction == Reduction::kNone) {
        std::memcpy(to, from, static_cast<size_t>(length) * sizeof(T));
      } else {
        for (int64_t i = 0; i < length; ++i) to[i] = reduced<reduction>(to[i], from[i]);
      }
    }
  }
}

struct Wide {
  uint64_t half[2];
};

// Null: the reference's.
KernelFn kernel_of(Reduction reduction, DType dtype) {
  if (reduction == Reduction::kNone && element_bytes(dtype) == sizeof(Wide)) return scatter<Wide, Reduction::kNone>;
  return scatter_kernel(reduction, dtype, []<class T, Reduction kind>() -> KernelFn { return &scatter<T, kind>; });
}

// Whether slice i of the updates belongs at a place that grows evenly along each axis of the tuples, and no two meet.
// `to`, a view of the updates' shape with the result's inner strides, then gets offset and strides of these places.
bool find_box(const ScatterNdStep& step, const TensorView& indices, move::Side& to) {
  const int outer = indices.rank - 1;
  int64_t steps[kMaxRank] = {}, base = 0, place = 0;
  if (!places_of(step, indices.data, 0, 1, &base)) return false;
  for (int64_t i = outer - 1, apart = 1; i >= 0; apart *= indices.dim(static_cast<int>(i)), --i) {
    if (indices.dim(static_cast<int>(i)) < 2) continue;
    if (!places_of(step, indices.data, apart, 1, &place) || place <= base) return false;
    steps[i] = place - base;
  }
  int64_t reach = step.slice;  // the finest axes cover so many neighbours; the next has to step over them
  bool used[kMaxRank] = {};
  for (int i = 0; i < outer; ++i) {
    int next = -1;
    for (int k = 0; k < outer; ++k)
      if (!used[k] && (next < 0 || steps[k] < steps[next])) next = k;
    used[next] = true;
    if (steps[next] == 0) continue;
    if (steps[next] < reach) return false;
    reach += steps[next] * (indices.dim(next) - 1);
  }
  int64_t at[kMaxRank] = {}, places[kBlock];
  for (int64_t first = 0; first < step.count; first += kBlock) {
    const int64_t count = std::min(kBlock, step.count - first);
    if (!places_of(step, indices.data, first, count, places)) return false;
    for (int64_t n = 0; n < count; ++n, next_index(at, indices.shape().first(static_cast<size_t>(outer)))) {
      int64_t want = base;
      for (int i = 0; i < outer; ++i) want += at[i] * steps[i];
      if (places[n] != want) return false;
    }
  }
  for (int i = 0; i < outer; ++i) to.view.strides[static_cast<size_t>(i)] = steps[i] * step.element;
  to.offset += base * step.element;
  return true;
}

// The result as a view of the updates' shape, its outer strides yet unknown.
move::Side target_of(const BindScope& scope, int outer) {
  move::Side to = move::output_side(scope, 0);
  const TensorView &updates = scope.input(2).view, out = to.view;
  to.view.rank = updates.rank;
  to.view.dims = updates.dims;
  for (int i = outer; i < updates.rank; ++i)
    to.view.strides[static_cast<size_t>(i)] = out.stride(out.rank - updates.rank + i);
  return to;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const Reduction reduction = scope.attributes<ScatterNd>().reduction;
  const TensorView &data = scope.input(0).view, &indices = scope.input(1).view, &updates = scope.input(2).view,
                   &out = scope.output(0).view;
  if (!move::can_copy(scope) || (indices.dtype != DType::kI64 && indices.dtype != DType::kI32)) return false;
  if (!check_nd_shapes(data, indices, updates).ok() || !indices.contiguous() || !out.contiguous()) return false;
  const KernelFn kernel = kernel_of(reduction, data.dtype);
  if (!kernel || data.empty()) return false;
  const move::Side from = move::input_side(scope, 0), to = move::output_side(scope, 0);
  const CopyPlan plan = move::plan_views(data, out);
  MICA_TRY(ScatterNdStep * step, scope.arguments<ScatterNdStep>());
  *step = {.copy = {plan, &move_kernels(scope.machine->isa), from.operand, to.operand, 0, 0, {}},
           .count = 1,
           .tuple = indices.dim(indices.rank - 1),
           .slice = 1,
           .element = element_bytes(data.dtype),
           .narrow = indices.dtype == DType::kI32,
           .out = to.operand};
  for (int i = 0; i + 1 < indices.rank; ++i) step->count *= indices.dim(i);
  for (int i = 0; i < data.rank; ++i) {
    if (i >= step->tuple) step->slice *= data.dim(i);
    step->sizes[i] = data.dim(i);
    step->strides[i] = out.stride(i) / step->element;
  }
  move::Side box = target_of(scope, indices.rank - 1);
  const bool constant = reduction == Reduction::kNone && scope.input(1).constant && indices.data && step->count > 0;
  const bool boxed = constant && find_box(*step, indices, box);
  if (!boxed && !updates.contiguous()) return false;
  MICA_TRY_STATUS(scope.add({.kernel = copy_data,
                             .arguments = step,
                             .tasks = plan.tasks,
                             .work = static_cast<double>(plan.bytes) / 4,
                             .check = boxed ? nullptr : check_indices,
                             .name = "scatter_data"}));
  if (boxed) MICA_TRY_STATUS(move::add_copy_step(scope, move::input_side(scope, 2), box));
  if (boxed || step->count == 0) return true;
  step->part = std::max<int64_t>(1, kPartBytes / step->element);
  MICA_TRY_STATUS(scope.add({.kernel = kernel,
                             .arguments = step,
                             .tasks = (step->slice + step->part - 1) / step->part,
                             .work = 2 * static_cast<double>(step->count * step->tuple + updates.count()),
                             .name = "scatter_nd"}));
  return true;
}

}  // namespace

MICA_RUN(scatter_nd) = {.bind = bind};

}  // namespace mica
