#include "kernels/reduce/reduce.h"

#include "ops/reduce/axes.h"
#include "ops/reduce/reduce.h"
#include "step/chain.h"
#include "step/loops.h"

namespace mica {
namespace {

struct Arguments {
  const ReduceKernels* kernels;
  IntegerReduceFn of_integers;  // or null: of floats
  ReduceArgs reduce;
  int from, to;  // operands
};
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const Arguments*>(arguments);
  const void* from = operands[args.from];
  void* to = operands[args.to];
  if (args.of_integers)
    args.of_integers(args.reduce, from, to, range.begin, range.end);
  else
    args.kernels->reduce(args.reduce, static_cast<const float*>(from), static_cast<float*>(to), range.begin, range.end);
}

// False for the kinds that the kernel does not have.
bool set_function(ReduceKind kind, int64_t n, ReduceArgs& args) {
  args.scale = 1 / static_cast<float>(n);
  switch (kind) {
    case ReduceKind::kSum: args.function = ReduceFunction::kSum; return true;
    case ReduceKind::kMean:
      args.function = ReduceFunction::kSum;
      args.finish = ReduceFinish::kScale;
      return true;
    case ReduceKind::kMax: args.function = ReduceFunction::kMax; return true;
    case ReduceKind::kMin: args.function = ReduceFunction::kMin; return true;
    case ReduceKind::kProd: args.function = ReduceFunction::kProd; return true;
    case ReduceKind::kL1: args.function = ReduceFunction::kSumOfAbs; return true;
    case ReduceKind::kL2:
      args.function = ReduceFunction::kSumOfSquares;
      args.finish = ReduceFinish::kSqrt;
      return true;
    case ReduceKind::kLogSum:
      args.function = ReduceFunction::kSum;
      args.finish = ReduceFinish::kLog;
      return true;
    case ReduceKind::kSumSquare: args.function = ReduceFunction::kSumOfSquares; return true;
    case ReduceKind::kLogSumExp: return false;
  }
  return false;
}

void set_loops(const PairLoops& kept, const PairLoops& reduced, ReduceArgs& args) {
  // Neighbours that are kept are reduced side by side.
  const bool side_by_side =
      kept.count > 0 && kept.a[kept.count - 1] == 1 && !(reduced.count > 0 && reduced.a[reduced.count - 1] == 1);
  args.outer_loops = kept.count - (side_by_side ? 1 : 0);
  for (int i = 0; i < args.outer_loops; ++i) {
    args.outer[i] = kept.dims[i];
    args.in_outer[i] = kept.a[i];
    args.out_outer[i] = kept.b[i];
  }
  if (side_by_side) {
    args.lanes = kept.dims[kept.count - 1];
    args.out_lane = kept.b[kept.count - 1];
  }
  args.inner_loops = reduced.count;
  for (int i = 0; i < reduced.count; ++i) {
    args.inner[i] = reduced.dims[i];
    args.in_inner[i] = reduced.a[i];
  }
  if (reduced.count == 0) {  // all reduced axes have size 1
    args.inner_loops = 1;
    args.inner[0] = 1;
    args.in_inner[0] = 1;
  }
}

// False when the axes are not known.
Result<bool> known_axes(const BindScope& scope, reduce::AxisSet& set) {
  Ints axes;
  if (scope.has(1)) {
    if (!scope.input(1).constant) return false;
    const Elements list(scope.input(1).view);
    for (int64_t i = 0; i < scope.input(1).view.count(); ++i)
      if (!axes.push(list.integer(i))) return false;
  }
  const int rank = scope.input(0).view.rank;
  MICA_TRY(set, reduce::axis_set(axes.span(), rank, !scope.attributes<Reduce>().keep_when_empty));
  return true;
}

[[gnu::noinline]] Status add_step(BindScope& scope, Arguments filled, PairLoops kept, PairLoops reduced) {
  set_loops(kept, reduced, filled.reduce);
  prepare_reduce(filled.reduce);
  MICA_TRY(Arguments * args, scope.arguments<Arguments>());
  *args = filled;
  MICA_TRY(const std::string_view name, kernel_name(scope, "reduce", scope.input(0).view.dtype));
  return scope.add({.kernel = run,
                    .arguments = args,
                    .tasks = args->reduce.tasks,
                    .work = static_cast<double>(kept.size() * reduced.size()),
                    .name = name});
}

// Whether a few neighbours are reduced together with loops outside of kept ones, as the channels of a group with all
// pixels: rows of a few elements are slow.
bool takes_two_steps(const PairLoops& kept, const PairLoops& reduced) {
  constexpr int64_t kShortRun = 48;
  const int last = reduced.count - 1;
  return last > 0 && kept.count > 0 && reduced.a[last] == 1 && reduced.dims[last] <= kShortRun &&
         kept.a[kept.count - 1] < reduced.a[last - 1];
}

// First the outer loops, for each of the neighbours, then these.
Status add_two_steps(BindScope& scope, Arguments filled, PairLoops kept, PairLoops reduced) {
  const int64_t run = reduced.dims[--reduced.count];
  PairLoops across = kept;
  int64_t size = run;
  for (int i = kept.count; i-- > 0; size *= kept.dims[i]) across.b[i] = kept.a[i] = size;
  across.push(run, sizeof(float), sizeof(float), sizeof(float));
  across.merge();
  MICA_TRY(const int between, scope.temporary(static_cast<size_t>(size) * sizeof(float)));
  Arguments first = filled;
  first.reduce.finish = ReduceFinish::kNone;
  first.to = between;
  MICA_TRY_STATUS(add_step(scope, first, across, reduced));
  const ReduceFunction f = filled.reduce.function;
  if (f == ReduceFunction::kSumOfAbs || f == ReduceFunction::kSumOfSquares)
    filled.reduce.function = ReduceFunction::kSum;
  filled.from = between;
  PairLoops within;
  within.push(run, sizeof(float), 0, sizeof(float));
  return add_step(scope, filled, kept, within);
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<Reduce>();
  const TensorView &x = scope.input(0).view, &out = scope.output(0).view;
  const bool integers = x.dtype == DType::kI32 || x.dtype == DType::kI64;
  if ((x.dtype != DType::kF32 && !integers) || !strides_fit(x) || !strides_fit(out) || x.empty()) return false;
  reduce::AxisSet set;
  MICA_TRY(const bool known, known_axes(scope, set));
  if (!known) return false;
  PairLoops kept, reduced;
  for (int i = 0, o = 0; i < x.rank; ++i) {
    if (set[i])
      reduced.push(x.dim(i), x.stride(i), 0, element_bytes(x.dtype));
    else
      kept.push(x.dim(i), x.stride(i), out.stride(o), element_bytes(x.dtype));
    if (!set[i] || a.keep_dims) ++o;
  }
  kept.merge();
  reduced.merge();
  Arguments filled{&reduce_kernels(scope.machine->isa), nullptr, {}, 0, static_cast<int>(scope.inputs.size())};
  if (!set_function(a.kind, reduced.size(), filled.reduce)) return false;
  if (integers) {
    if (filled.reduce.finish != ReduceFinish::kNone) return false;
    filled.of_integers = integer_reduce(filled.reduce.function, 8 * static_cast<int>(element_bytes(x.dtype)));
    if (!filled.of_integers) return false;
    MICA_TRY_STATUS(add_step(scope, filled, kept, reduced));
    return true;
  }
  MICA_TRY_STATUS((takes_two_steps(kept, reduced) ? add_two_steps : add_step)(scope, filled, kept, reduced));
  return true;
}

bool takes_row_means(const BindScope& scope) {
  if (scope.attributes<Reduce>().kind != ReduceKind::kMean) return false;
  reduce::AxisSet set;
  const Result<bool> known = known_axes(scope, set);
  return known.ok() && *known && set[scope.input(0).view.rank - 1];
}

}  // namespace

MICA_RUN(reduce) = {.bind = bind, .takes_row_means = takes_row_means};

}  // namespace mica
