#include "ops/reduce/cumulate.h"

#include <algorithm>

#include "step/run.h"
#include "types/operand.h"

namespace mica {
namespace {

constexpr int64_t kLanes = 64;  // of a task: they run along the axis side by side

// A dense tensor [before, n, behind], run through along the middle axis.
struct CumulateStep {
  int64_t before, n, behind, blocks;  // blocks of lanes behind the axis
  bool exclusive, reverse;
  int out;
};

// One lane: what runs stays in a register.
template <class T, class Running, bool product>
void run_alone(const CumulateStep& step, const T* in, T* out) {
  Running running = product ? 1 : 0;
  const int64_t by = step.reverse ? -step.behind : step.behind;
  int64_t at = step.reverse ? (step.n - 1) * step.behind : 0;
  for (int64_t k = 0; k < step.n; ++k, at += by) {
    const auto x = static_cast<Running>(in[at]), now = running;
    running = product ? now * x : now + x;
    out[at] = static_cast<T>(step.exclusive ? now : running);
  }
}

// Floats run in double, as the reference has them; integers wrap.
template <class T, class Running, bool product>
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const CumulateStep*>(arguments);
  for (int64_t task = range.begin; task < range.end; ++task) {
    const int64_t first = task % step.blocks * kLanes, lanes = std::min(kLanes, step.behind - first);
    const int64_t base = task / step.blocks * step.n * step.behind + first;
    const T* in = static_cast<const T*>(operands[0]) + base;
    T* out = static_cast<T*>(operands[step.out]) + base;
    if (lanes == 1) {
      run_alone<T, Running, product>(step, in, out);
      continue;
    }
    Running running[kLanes];
    std::fill_n(running, lanes, static_cast<Running>(product ? 1 : 0));
    for (int64_t k = 0; k < step.n; ++k) {
      const int64_t row = (step.reverse ? step.n - 1 - k : k) * step.behind;
      for (int64_t i = 0; i < lanes; ++i) {
        const auto x = static_cast<Running>(in[row + i]), now = running[i], next = product ? now * x : now + x;
        out[row + i] = static_cast<T>(step.exclusive ? now : next);
        running[i] = next;
      }
    }
  }
}

template <class T, class Running>
KernelFn kernel_of(bool product) {
  return product ? run<T, Running, true> : run<T, Running, false>;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& attributes = scope.attributes<Cumulate>();
  const TensorView &x = scope.input(0).view, &where = scope.input(1).view;
  const KernelFn kernel = x.dtype == DType::kF32   ? kernel_of<float, double>(attributes.product)
                          : x.dtype == DType::kI32 ? kernel_of<int32_t, uint64_t>(attributes.product)
                          : x.dtype == DType::kI64 ? kernel_of<int64_t, uint64_t>(attributes.product)
                                                   : nullptr;
  if (!kernel || x.empty() || !x.contiguous() || !scope.output(0).view.contiguous()) return false;
  if (!scope.input(1).constant || !where.data || where.count() != 1) return false;
  if (where.dtype != DType::kI64 && where.dtype != DType::kI32) return false;
  MICA_TRY(const int axis, normalize_axis(load_int(where.dtype, where.data), x.rank));
  MICA_TRY(CumulateStep * step, scope.arguments<CumulateStep>());
  *step = {1, x.dim(axis), 1, 1, attributes.exclusive, attributes.reverse, static_cast<int>(scope.inputs.size())};
  for (int i = 0; i < x.rank; ++i)
    if (i != axis) (i < axis ? step->before : step->behind) *= x.dim(i);
  step->blocks = (step->behind + kLanes - 1) / kLanes;
  MICA_TRY_STATUS(scope.add({.kernel = kernel,
                             .arguments = step,
                             .tasks = step->before * step->blocks,
                             .work = static_cast<double>(x.count()),
                             .name = "cumulate"}));
  return true;
}

}  // namespace

MICA_RUN(cumulate) = {.bind = bind};

}  // namespace mica
