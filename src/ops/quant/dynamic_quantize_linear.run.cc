// Range, scale, codes: three steps. The range is found over parts of the tensor, whose number does not depend on the
// number of threads.
#include <cmath>

#include "kernels/reduce/reduce.h"
#include "kernels/typed/typed.h"
#include "step/run.h"

namespace mica {
namespace {

constexpr int64_t kPart = 1 << 14;

struct Arguments {
  const ReduceKernels* reduce;
  TypedRowFn quantize;
  int64_t count, parts;
  int codes, scale, zero;  // operands; -1: not wanted
  int ranges, numbers;     // temporaries: least and largest of each part; the scale that divides, the zero point
};

struct Numbers {
  float scale;
  uint8_t zero;
};

void extreme(const Arguments& a, ReduceFunction function, const float* x, int64_t n, float* to) {
  ReduceArgs args;
  args.function = function;
  args.inner_loops = 1;
  args.inner[0] = n;
  args.in_inner[0] = 1;
  prepare_reduce(args);
  a.reduce->reduce(args, x, to, 0, args.tasks);
  if (!std::isnan(*to)) return;
  *to = 0;  // the range is that of the numbers
  for (int64_t i = 0; i < n; ++i) *to = function == ReduceFunction::kMin ? std::fmin(*to, x[i]) : std::fmax(*to, x[i]);
}

void find_ranges(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& a = *static_cast<const Arguments*>(arguments);
  const auto* x = static_cast<const float*>(operands[0]);
  auto* ranges = static_cast<float*>(operands[a.ranges]);
  for (int64_t part = range.begin; part < range.end; ++part) {
    const int64_t first = part * kPart, n = std::min(kPart, a.count - first);
    extreme(a, ReduceFunction::kMin, x + first, n, ranges + 2 * part);
    extreme(a, ReduceFunction::kMax, x + first, n, ranges + 2 * part + 1);
  }
}

void choose_scale(const void* arguments, void* const* operands, const TaskRange&) {
  const auto& a = *static_cast<const Arguments*>(arguments);
  const auto* ranges = static_cast<const float*>(operands[a.ranges]);
  float low = 0, high = 0;
  for (int64_t part = 0; part < a.parts; ++part) {
    low = std::fmin(low, ranges[2 * part]);
    high = std::fmax(high, ranges[2 * part + 1]);
  }
  const float scale = (high - low) / 255.0f;
  const float zero = scale == 0 ? 0 : std::nearbyint(std::fmin(std::fmax(-low / scale, 0.0f), 255.0f));
  auto& numbers = *static_cast<Numbers*>(operands[a.numbers]);
  numbers = {scale == 0 ? 1.0f : scale, static_cast<uint8_t>(zero)};  // by 1 where all numbers are 0
  if (a.scale >= 0) *static_cast<float*>(operands[a.scale]) = scale;
  if (a.zero >= 0) *static_cast<uint8_t*>(operands[a.zero]) = numbers.zero;
}

void write_codes(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& a = *static_cast<const Arguments*>(arguments);
  const auto* numbers = static_cast<const Numbers*>(operands[a.numbers]);
  const int64_t first = range.begin * kPart, end = std::min(range.end * kPart, a.count);
  const TypedRow row{
      .in = {static_cast<const char*>(operands[0]) + first * static_cast<int64_t>(sizeof(float)),
             reinterpret_cast<const char*>(&numbers->scale), reinterpret_cast<const char*>(&numbers->zero)},
      .in_stride = {sizeof(float), 0, 0},
      .out = static_cast<char*>(operands[a.codes]) + first,
      .out_stride = 1};
  a.quantize(row, end - first);
}

// Both fill their memory, in the same order of axes.
bool same_dense_order(const TensorView& x, const TensorView& codes) {
  int64_t extent = 1;
  for (int i = 0; i < x.rank; ++i) {
    if (x.dim(i) == 1) continue;
    if (x.stride(i) < 0 || x.stride(i) != codes.stride(i) * static_cast<int64_t>(sizeof(float))) return false;
    extent += (x.dim(i) - 1) * codes.stride(i);
  }
  return extent == x.count();
}

int wanted(const BindScope& scope, int output) {
  const bool made = output < static_cast<int>(scope.outputs.size()) && scope.output(output).present;
  return made ? static_cast<int>(scope.inputs.size()) + output : -1;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView& x = scope.input(0).view;
  if (x.dtype != DType::kF32 || x.empty() || scope.epilogue.count > 0) return false;
  MICA_TRY(Arguments * args, scope.arguments<Arguments>());
  *args = {.reduce = &reduce_kernels(scope.machine->isa),
           .quantize =
               typed_kernels(scope.machine->isa).find(TypedFunction::kQuantize, TypedElement::kF32, TypedElement::kU8),
           .count = x.count(),
           .parts = (x.count() + kPart - 1) / kPart,
           .codes = wanted(scope, 0),
           .scale = wanted(scope, 1),
           .zero = wanted(scope, 2)};
  if (!args->quantize || !same_dense_order(x, args->codes >= 0 ? scope.output(0).view : x)) return false;
  MICA_TRY(args->ranges, scope.temporary(static_cast<size_t>(args->parts) * 2 * sizeof(float)));
  MICA_TRY(args->numbers, scope.temporary(sizeof(Numbers)));
  const auto elements = static_cast<double>(args->count);
  MICA_TRY_STATUS(scope.add(
      {.kernel = find_ranges, .arguments = args, .tasks = args->parts, .work = elements / 8, .name = "range_f32"}));
  MICA_TRY_STATUS(scope.add({.kernel = choose_scale, .arguments = args, .name = "scale_of_range"}));
  if (args->codes >= 0)
    MICA_TRY_STATUS(scope.add({.kernel = write_codes,
                               .arguments = args,
                               .tasks = args->parts,
                               .work = elements / 2,
                               .name = "quantize_f32"}));
  return true;
}

}  // namespace

MICA_RUN(dynamic_quantize_linear) = {.bind = bind};

}  // namespace mica
