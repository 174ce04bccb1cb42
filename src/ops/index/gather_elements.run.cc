#include "ops/index/elements_step.h"

namespace mica {
namespace {

template <class T>
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const ElementsStep*>(arguments);
  const int64_t to = step.places * step.behind, from = step.size * step.behind;
  for (int64_t task = range.begin; task < range.end; ++task) {
    T* out = static_cast<T*>(operands[step.out]) + task * to;
    const T* data = static_cast<const T*>(operands[0]) + task * from;
    with_indices(step, operands[1], task * to, [&](const auto* indices) {
      for (int64_t k = 0; k < step.places; ++k)
        for (int64_t i = 0; i < step.behind; ++i) {
          const auto index = static_cast<int64_t>(indices[k * step.behind + i]);
          out[k * step.behind + i] = data[(index < 0 ? index + step.size : index) * step.behind + i];
        }
    });
  }
}

Result<bool> bind(BindScope& scope) {
  MICA_TRY(ElementsStep * step, scope.arguments<ElementsStep>());
  MICA_TRY(const bool fits, elements_step(scope, scope.attributes<IndexAxis>().axis, *step));
  const TensorView &data = scope.input(0).view, &out = scope.output(0).view;
  const auto kernel = by_bytes(element_bytes(data.dtype), []<class T>() { return &run<T>; });
  if (!fits || !kernel || !out.contiguous()) return false;
  MICA_TRY_STATUS(scope.add({.kernel = kernel,
                             .arguments = step,
                             .tasks = step->before,
                             .work = 2 * static_cast<double>(out.count()),
                             .check = check_indices,
                             .name = "gather_elements"}));
  return true;
}

}  // namespace

MICA_RUN(gather_elements) = {.bind = bind};

}  // namespace mica
