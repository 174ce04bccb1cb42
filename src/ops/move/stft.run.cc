// One transform for each frame. A window that comes at run time is read where it stands.
#include "ops/move/stft.h"

#include <algorithm>

#include "ops/move/fourier_plan.h"
#include "types/operand.h"

namespace mica {
namespace {

struct Arguments {
  FourierPlan plan;
  const FourierKernels* kernels;
  TensorView signal, out;  // dims and strides of the operands
  int64_t step, window_stride;
  bool windowed, complex;
  size_t y;
};

// Floats that stand `stride` bytes apart.
struct Floats {
  const char* at;
  int64_t stride;
  float operator[](int64_t i) const { return *reinterpret_cast<const float*>(at + i * stride); }
};
constexpr float kOne = 1;
[[gnu::noinline]] void weigh(const Floats& samples, const Floats& window, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = samples[i] * window[i];
}

void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& a = *static_cast<const Arguments*>(arguments);
  const int64_t n = a.plan.length, frames = a.out.dim(1), bins = a.out.dim(2);
  const Floats window{static_cast<const char*>(a.windowed ? operands[2] : &kOne), a.window_stride};
  for (int64_t task = range.begin; task < range.end; ++task) {
    const int64_t image = task / frames, frame = task % frames;
    FourierLine line = move::fourier_line(a.plan, range.scratch);
    const Floats re{
        static_cast<const char*>(operands[0]) + image * a.signal.stride(0) + frame * a.step * a.signal.stride(1),
        a.signal.stride(1)};
    weigh(re, window, n, line.re);
    std::fill_n(line.im, n, 0.0f);
    if (a.complex) weigh({re.at + a.signal.stride(2), re.stride}, window, n, line.im);
    a.kernels->run(a.plan, line);
    char* to = static_cast<char*>(operands[a.y]) + image * a.out.stride(0) + frame * a.out.stride(1);
    for (int64_t k = 0; k < bins; ++k, to += a.out.stride(2)) {
      *reinterpret_cast<float*>(to) = line.re[k];
      *reinterpret_cast<float*>(to + a.out.stride(3)) = line.im[k];
    }
  }
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView &x = scope.input(0).view, &window = scope.input(2).view, &y = scope.output(0).view;
  if (x.dtype != DType::kF32 || y.empty() || x.empty() || !scope.input(1).constant) return false;
  if (scope.has(3) && !scope.input(3).constant) return false;
  MICA_TRY(const int64_t step, read_int(scope.input(1).view, "frame_step"));
  int64_t n = scope.has(2) ? window.count() : x.dim(1);
  if (scope.has(3)) {
    MICA_TRY(n, read_int(scope.input(3).view, "frame_length"));
  }
  const bool complex = x.rank == 3 && x.dim(2) == 2;
  if (step < 1 || n > x.dim(1) || (x.rank == 3 && !complex && x.dim(2) != 1)) return false;
  if (scope.has(2) && (window.dtype != DType::kF32 || window.rank != 1 || window.dim(0) != n)) return false;
  FourierPlan plan;
  MICA_TRY(const bool known, move::make_fourier_plan(scope, n, false, plan));
  if (!known) return false;
  MICA_TRY(Arguments * args, scope.arguments<Arguments>());
  *args = {plan,
           &fourier_kernels(scope.machine->isa),
           x,
           y,
           step,
           scope.has(2) ? window.stride(0) : 0,
           scope.has(2),
           complex,
           scope.inputs.size()};
  const int64_t lines = y.dim(0) * y.dim(1);
  MICA_TRY_STATUS(move::add_fourier_step(scope, plan, {"stft", run, args, lines}));
  return true;
}

}  // namespace

MICA_RUN(stft) = {.bind = bind};

}  // namespace mica
