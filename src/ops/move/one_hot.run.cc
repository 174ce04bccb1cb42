#include "ops/move/one_hot.h"

#include <algorithm>

#include "step/run.h"
#include "types/operand.h"

namespace mica {
namespace {

struct OneHotStep {
  int64_t inner = 1, depth = 1;  // elements behind the new axis, and of it
  int bytes = 1, out = 0;        // of an element; the operand
  bool wide = false;             // indices of 64 bits
};

// Task o: the new axis' elements at place o of the axes in front of it.
template <class T, class Index>
void fill(const OneHotStep& step, void* const* operands, const TaskRange& range) {
  const auto* values = static_cast<const T*>(operands[2]);
  const T off = values[0], on = values[1];
  for (int64_t o = range.begin; o < range.end; ++o) {
    const auto* indices = static_cast<const Index*>(operands[0]) + o * step.inner;
    T* out = static_cast<T*>(operands[step.out]) + o * step.depth * step.inner;
    std::fill_n(out, step.depth * step.inner, off);
    for (int64_t i = 0; i < step.inner; ++i) {
      const int64_t index = indices[i], at = index < 0 ? index + step.depth : index;
      if (at >= 0 && at < step.depth) out[at * step.inner + i] = on;
    }
  }
}
template <class T>
void fill(const OneHotStep& step, void* const* operands, const TaskRange& range) {
  (step.wide ? fill<T, int64_t> : fill<T, int32_t>)(step, operands, range);
}

void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const OneHotStep*>(arguments);
  switch (step.bytes) {
    case 1: return fill<uint8_t>(step, operands, range);
    case 2: return fill<uint16_t>(step, operands, range);
    case 4: return fill<uint32_t>(step, operands, range);
    default: return fill<uint64_t>(step, operands, range);
  }
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView &indices = scope.input(0).view, &values = scope.input(2).view, &out = scope.output(0).view;
  const bool is_wide = indices.dtype == DType::kI64;
  if ((!is_wide && indices.dtype != DType::kI32) || is_sub_byte(out.dtype) || out.dtype == DType::kString) return false;
  if (!scope.input(1).constant || values.rank != 1 || values.dim(0) != 2 || out.empty()) return false;
  if (!indices.contiguous() || !values.contiguous() || !out.contiguous() || element_bytes(out.dtype) > 8) return false;
  MICA_TRY(const int axis, normalize_axis(scope.attributes<OneHot>().axis, out.rank));
  MICA_TRY(OneHotStep * step, scope.arguments<OneHotStep>());
  *step = {.depth = out.dim(axis), .bytes = static_cast<int>(element_bytes(out.dtype)), .out = 3, .wide = is_wide};
  for (int i = axis + 1; i < out.rank; ++i) step->inner *= out.dim(i);
  MICA_TRY_STATUS(scope.add({.kernel = run,
                             .arguments = step,
                             .tasks = out.count() / (step->depth * step->inner),
                             .work = static_cast<double>(out.count()),
                             .name = "one_hot"}));
  return true;
}

}  // namespace

MICA_RUN(one_hot) = {.bind = bind};

}  // namespace mica
