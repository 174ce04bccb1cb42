#include "ops/move/dft.h"

#include "ops/move/fourier_plan.h"
#include "step/run.h"
#include "types/operand.h"

namespace mica {
namespace {

struct Arguments {
  FourierPlan plan;
  const FourierKernels* kernels;
  TensorView in, out;  // dims and strides of the operands
  int axis;
  size_t y;
  bool mirrored;  // the signal is the first half of a real one's spectrum
};

// The operands' first elements of line `task`.
struct Ends {
  const char* in;
  char* out;
};
Ends line_at(const Arguments& a, void* const* operands, int64_t task) {
  Ends at{static_cast<const char*>(operands[0]), static_cast<char*>(operands[a.y])};
  for (int i = a.in.rank - 2; i >= 0; --i) {
    if (i == a.axis) continue;
    const int64_t index = task % a.in.dim(i);
    task /= a.in.dim(i);
    at.in += index * a.in.stride(i);
    at.out += index * a.out.stride(i);
  }
  return at;
}

float number(const char* at) { return *reinterpret_cast<const float*>(at); }

// A real signal's first and middle bins are real: without the rounding that the transform leaves there.
void make_ends_real(FourierLine& line, int64_t n) {
  line.im[0] = 0;
  if (n % 2 == 0) line.im[n / 2] = 0;
}

// The signal, cut or padded with zeros to the plan's length; of a spectrum's first half, the mirrored conjugate behind.
void load_line(const Arguments& a, const char* from, FourierLine& line) {
  const int last = a.in.rank - 1;
  const int64_t n = a.plan.length, have = a.in.dim(a.axis), step = a.in.stride(a.axis);
  const bool complex = a.in.dim(last) == 2;
  const int64_t imaginary = complex ? a.in.stride(last) : 0;
  const int64_t given = have < n ? have : n, whole = a.mirrored && n / 2 + 1 < given ? n / 2 + 1 : given;
  for (int64_t i = 0; i < whole; ++i) {
    line.re[i] = number(from + i * step);
    line.im[i] = complex ? number(from + i * step + imaginary) : 0;
  }
  for (int64_t i = whole; i < n; ++i) line.re[i] = line.im[i] = 0;
  if (!a.mirrored) return;
  for (int64_t i = n / 2 + 1; i < n; ++i) line.re[i] = line.re[n - i], line.im[i] = -line.im[n - i];
  make_ends_real(line, n);
}

void store_line(const Arguments& a, const FourierLine& line, char* to) {
  const int last = a.out.rank - 1;
  const int64_t written = a.out.dim(a.axis), step = a.out.stride(a.axis), imaginary = a.out.stride(last);
  const float length = static_cast<float>(a.plan.length), scale = a.plan.inverse ? 1 / length : 1;
  for (int64_t i = 0; i < written; ++i) {
    *reinterpret_cast<float*>(to + i * step) = line.re[i] * scale;
    if (a.out.dim(last) == 2) *reinterpret_cast<float*>(to + i * step + imaginary) = line.im[i] * scale;
  }
}

void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& a = *static_cast<const Arguments*>(arguments);
  for (int64_t task = range.begin; task < range.end; ++task) {
    const Ends at = line_at(a, operands, task);
    FourierLine line = move::fourier_line(a.plan, range.scratch);
    load_line(a, at.in, line);
    a.kernels->run(a.plan, line);
    if (a.in.dim(a.in.rank - 1) == 1) make_ends_real(line, a.plan.length);
    store_line(a, line, at.out);
  }
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView &x = scope.input(0).view, &y = scope.output(0).view;
  if (x.dtype != DType::kF32 || y.empty() || x.empty()) return false;
  if ((scope.has(1) && !scope.input(1).constant) || (scope.has(2) && !scope.input(2).constant)) return false;
  int64_t axis_operand = -2;
  if (scope.has(2)) {
    MICA_TRY(axis_operand, read_int(scope.input(2).view, "axis"));
  }
  MICA_TRY(const int axis, normalize_axis(axis_operand, x.rank));
  const auto& attributes = scope.attributes<Dft>();
  const bool mirrored = attributes.inverse && attributes.onesided;
  int64_t length = mirrored ? 2 * (x.dim(axis) - 1) : x.dim(axis);
  if (scope.has(1)) {
    MICA_TRY(length, read_int(scope.input(1).view, "dft_length"));
  }
  FourierPlan plan;
  MICA_TRY(const bool known, move::make_fourier_plan(scope, length, attributes.inverse, plan));
  if (!known) return false;
  MICA_TRY(Arguments * args, scope.arguments<Arguments>());
  *args = {plan, &fourier_kernels(scope.machine->isa), x, y, axis, scope.inputs.size(), mirrored};
  const int64_t lines = y.count() / (y.dim(axis) * y.dim(y.rank - 1));
  MICA_TRY_STATUS(move::add_fourier_step(scope, plan, {"dft", run, args, lines}));
  return true;
}

}  // namespace

MICA_RUN(dft) = {.bind = bind};

}  // namespace mica
