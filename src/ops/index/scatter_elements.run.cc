#include <cstring>

#include "ops/index/scatter_kernel.h"

namespace mica {
namespace {

// Later updates win where two meet, so that one task has all of a group of lines that lie beside each other.
template <class T, Reduction reduction>
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const ElementsStep*>(arguments);
  const int64_t from = step.places * step.behind, to = step.size * step.behind;
  for (int64_t task = range.begin; task < range.end; ++task) {
    T* out = static_cast<T*>(operands[step.out]) + task * to;
    const T* data = static_cast<const T*>(operands[0]) + task * to;
    if (out != data) std::memcpy(out, data, static_cast<size_t>(to) * sizeof(T));
    const T* updates = static_cast<const T*>(operands[2]) + task * from;
    with_indices(step, operands[1], task * from, [&](const auto* indices) {
      for (int64_t k = 0; k < step.places; ++k)
        for (int64_t i = 0; i < step.behind; ++i) {
          const auto index = static_cast<int64_t>(indices[k * step.behind + i]);
          T& place = out[(index < 0 ? index + step.size : index) * step.behind + i];
          place = reduced<reduction>(place, updates[k * step.behind + i]);
        }
    });
  }
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& attributes = scope.attributes<Scatter>();
  const TensorView &data = scope.input(0).view, &indices = scope.input(1).view, &updates = scope.input(2).view;
  MICA_TRY(ElementsStep * step, scope.arguments<ElementsStep>());
  MICA_TRY(const bool fits, elements_step(scope, attributes.axis, *step));
  if (!fits || !updates.contiguous() || !scope.output(0).view.contiguous() || updates.rank != indices.rank)
    return false;
  for (int i = 0; i < indices.rank; ++i)
    if (updates.dim(i) != indices.dim(i)) return false;
  const KernelFn kernel = scatter_kernel(attributes.reduction, data.dtype,
                                         []<class T, Reduction reduction>() -> KernelFn { return &run<T, reduction>; });
  if (!kernel) return false;
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
