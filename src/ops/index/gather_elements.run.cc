#include "ops/index/elements_step.h"

namespace mica {
namespace {

template <class T>
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const ElementsStep*>(arguments);
  const int64_t places = step.places, behind = step.behind, size = step.size;
  const int64_t to = places * behind, from = size * behind;
  for (int64_t task = range.begin; task < range.end; ++task) {
    T* out = static_cast<T*>(operands[step.out]) + task * to;
    const T* data = static_cast<const T*>(operands[0]) + task * from;
    with_indices(step, operands[1], task * to, [&](const auto* indices) {
      const auto place = [&](int64_t i) {
        const auto index = static_cast<int64_t>(indices[i]);
        return index + (index >> 63 & size);  // negative ones count from the end
      };
      if (behind == 1)
        for (int64_t k = 0; k < places; ++k) out[k] = data[place(k)];
      else
        for (int64_t k = 0; k < places; ++k)
          for (int64_t i = 0; i < behind; ++i) out[k * behind + i] = data[place(k * behind + i) * behind + i];
    });
  }
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
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
