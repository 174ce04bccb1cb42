#include <algorithm>
#include <cstring>

#include "ops/index/elements_step.h"
#include "ops/index/gather_nd.h"
#include "step/run.h"
#include "types/operand.h"

namespace mica {
namespace {

constexpr int64_t kBlock = 256;  // tuples of a task

// Operands are dense: data [batches, sizes ..., slice] and tuples [count, tuple], `together` of them in each batch.
// Strides are in elements.
struct GatherNdStep {
  int64_t count, together, tuple, slice, batch_stride;
  int64_t sizes[kMaxRank], strides[kMaxRank];
  bool narrow;  // i32 indices
  int out;
};

int64_t index_at(const GatherNdStep& step, const void* indices, int64_t i) {
  return step.narrow ? static_cast<const int32_t*>(indices)[i] : static_cast<const int64_t*>(indices)[i];
}

Status check_indices(const void* arguments, void* const* operands) {
  const auto& step = *static_cast<const GatherNdStep*>(arguments);
  for (int64_t n = 0, i = 0; n < step.count; ++n)
    for (int64_t k = 0; k < step.tuple; ++k, ++i) {
      const int64_t index = index_at(step, operands[1], i), size = step.sizes[k];
      if (index < -size || index >= size) MICA_TRY_STATUS(checked_index(index, size, "index"));
    }
  return {};
}

template <class T>
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const GatherNdStep*>(arguments);
  const auto* data = static_cast<const T*>(operands[0]);
  auto* out = static_cast<T*>(operands[step.out]);
  const int64_t end = std::min(range.end * kBlock, step.count);
  for (int64_t n = range.begin * kBlock; n < end; ++n) {
    const T* from = data + n / step.together * step.batch_stride;
    for (int64_t k = 0; k < step.tuple; ++k) {
      const int64_t index = index_at(step, operands[1], n * step.tuple + k);
      from += (index < 0 ? index + step.sizes[k] : index) * step.strides[k];
    }
    if (step.slice == 1)
      out[n] = *from;
    else
      std::memcpy(out + n * step.slice, from, static_cast<size_t>(step.slice) * sizeof(T));
  }
}

KernelFn kernel_of(DType dtype) {
  if (is_sub_byte(dtype) || dtype == DType::kString) return nullptr;
  return by_bytes(element_bytes(dtype), []<class T>() -> KernelFn { return &run<T>; });
}

// Whether the shapes are those that the reference takes.
bool shapes_fit(const TensorView& data, const TensorView& indices, const TensorView& out, int64_t batch) {
  if (data.rank < 1 || indices.rank < 1 || batch < 0 || batch >= data.rank || batch >= indices.rank) return false;
  const int64_t tuple = indices.dim(indices.rank - 1), first = batch + tuple;
  if (first > data.rank || out.rank != indices.rank - 1 + data.rank - first) return false;
  for (int i = 0; i < batch; ++i)
    if (data.dim(i) != indices.dim(i)) return false;
  for (int i = 0; i < out.rank; ++i) {
    const bool outer = i + 1 < indices.rank;
    if (out.dim(i) != (outer ? indices.dim(i) : data.dim(static_cast<int>(first) + i - indices.rank + 1))) return false;
  }
  return true;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const int64_t batch = scope.attributes<GatherNd>().batch_dims;
  const TensorView &data = scope.input(0).view, &indices = scope.input(1).view, &out = scope.output(0).view;
  const KernelFn kernel = kernel_of(data.dtype);
  if (!kernel || (indices.dtype != DType::kI64 && indices.dtype != DType::kI32)) return false;
  if (!shapes_fit(data, indices, out, batch) || data.empty() || out.empty()) return false;
  if (!data.contiguous() || !indices.contiguous() || !out.contiguous()) return false;
  MICA_TRY(GatherNdStep * step, scope.arguments<GatherNdStep>());
  *step = {.count = 1,
           .together = 1,
           .tuple = indices.dim(indices.rank - 1),
           .slice = 1,
           .batch_stride = 1,
           .narrow = indices.dtype == DType::kI32,
           .out = static_cast<int>(scope.inputs.size())};
  for (int i = 0; i + 1 < indices.rank; ++i) {
    step->count *= indices.dim(i);
    if (i >= batch) step->together *= indices.dim(i);
  }
  int64_t stride = 1;
  for (int i = data.rank; i-- > batch; stride *= data.dim(i)) {
    if (i >= batch + step->tuple) {
      step->slice *= data.dim(i);
      continue;
    }
    step->sizes[i - batch] = data.dim(i);
    step->strides[i - batch] = stride;
  }
  step->batch_stride = stride;
  MICA_TRY_STATUS(scope.add({.kernel = kernel,
                             .arguments = step,
                             .tasks = (step->count + kBlock - 1) / kBlock,
                             .work = 2 * static_cast<double>(indices.count() + out.count()),
                             .check = check_indices,
                             .name = "gather_nd"}));
  return true;
}

}  // namespace

MICA_RUN(gather_nd) = {.bind = bind};

}  // namespace mica
