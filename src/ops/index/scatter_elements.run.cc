#include <cstring>

#include "ops/index/scatter.h"
#include "step/run.h"
#include "types/operand.h"

namespace mica {
namespace {

// Operands are dense. Updates [before, places, behind] go into data [before, size, behind], along the middle axis.
// Later ones win where two meet, so that one task has all of a group of lines that lie beside each other.
struct ScatterStep {
  int64_t before, places, behind, size;
  bool narrow;  // i32 indices
  int out;
};

int64_t index_at(const ScatterStep& step, const void* indices, int64_t i) {
  return step.narrow ? static_cast<const int32_t*>(indices)[i] : static_cast<const int64_t*>(indices)[i];
}

Status check_indices(const void* arguments, void* const* operands) {
  const auto& step = *static_cast<const ScatterStep*>(arguments);
  const int64_t count = step.before * step.places * step.behind;
  bool inside = true;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = index_at(step, operands[1], i);
    inside &= index >= -step.size && index < step.size;
  }
  for (int64_t i = 0; !inside && i < count; ++i)
    MICA_TRY_STATUS(checked_index(index_at(step, operands[1], i), step.size, "index"));
  return {};
}

template <class T, class Index>
void scatter(const ScatterStep& step, const Index* indices, const T* updates, T* out) {
  for (int64_t k = 0; k < step.places; ++k)
    for (int64_t i = 0; i < step.behind; ++i) {
      const auto index = static_cast<int64_t>(indices[k * step.behind + i]);
      out[(index < 0 ? index + step.size : index) * step.behind + i] = updates[k * step.behind + i];
    }
}

template <class T>
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const ScatterStep*>(arguments);
  const int64_t from = step.places * step.behind, to = step.size * step.behind;
  for (int64_t task = range.begin; task < range.end; ++task) {
    T* out = static_cast<T*>(operands[step.out]) + task * to;
    const T* data = static_cast<const T*>(operands[0]) + task * to;
    if (out != data) std::memcpy(out, data, static_cast<size_t>(to) * sizeof(T));
    const T* updates = static_cast<const T*>(operands[2]) + task * from;
    if (step.narrow)
      scatter(step, static_cast<const int32_t*>(operands[1]) + task * from, updates, out);
    else
      scatter(step, static_cast<const int64_t*>(operands[1]) + task * from, updates, out);
  }
}

Result<bool> bind(BindScope& scope) {
  const auto& attributes = scope.attributes<Scatter>();
  const TensorView &data = scope.input(0).view, &indices = scope.input(1).view, &updates = scope.input(2).view,
                   &out = scope.output(0).view;
  const int64_t element = is_sub_byte(data.dtype) ? 0 : element_bytes(data.dtype);
  if (attributes.reduction != Reduction::kNone || data.dtype == DType::kString || data.rank < 1) return false;
  if (element != 1 && element != 2 && element != 4 && element != 8) return false;
  if (indices.dtype != DType::kI64 && indices.dtype != DType::kI32) return false;
  for (const TensorView* view : {&data, &indices, &updates, &out})
    if (view->rank != data.rank || !view->contiguous()) return false;
  MICA_TRY(const int axis, normalize_axis(attributes.axis, data.rank));
  MICA_TRY(ScatterStep * step, scope.arguments<ScatterStep>());
  *step = {
      1, indices.dim(axis), 1, data.dim(axis), indices.dtype == DType::kI32, static_cast<int>(scope.inputs.size())};
  for (int i = 0; i < data.rank; ++i) {
    if (updates.dim(i) != indices.dim(i) || (i != axis && indices.dim(i) != data.dim(i))) return false;
    if (i != axis) (i < axis ? step->before : step->behind) *= data.dim(i);
  }
  if (data.empty() || indices.empty()) return false;
  const auto kernel = element == 1   ? run<uint8_t>
                      : element == 2 ? run<uint16_t>
                      : element == 4 ? run<uint32_t>
                                     : run<uint64_t>;
  MICA_TRY_STATUS(scope.add({.kernel = kernel,
                             .arguments = step,
                             .tasks = step->before,
                             .work = 2 * static_cast<double>(indices.count()) + static_cast<double>(data.count()) / 4,
                             .check = check_indices,
                             .name = "scatter_elements"}));
  return true;
}

}  // namespace

MICA_RUN(scatter_elements) = {.bind = bind};

}  // namespace mica
