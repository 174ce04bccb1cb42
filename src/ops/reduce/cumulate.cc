#include "ops/reduce/cumulate.h"

#include "ops/reduce/axes.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  const NumberKind kind = kind_of(scope.dtype(0));
  MICA_CHECK((kind == NumberKind::kFloat || kind == NumberKind::kSigned || kind == NumberKind::kUnsigned) &&
                 bits_of(scope.dtype(0)) >= 8,
             kBadType, "cannot add up elements of type {}", name_of(scope.dtype(0)));
  Ints axis;
  if (scope.ints(1, axis) && axis.size() == 1 && scope.shape(0).known())
    MICA_TRY_STATUS(normalize_axis(axis[0], scope.shape(0).rank));
  return infer_same(scope);
}

template <class T, class Load, class Store>
void run_line(const Cumulate& a, int64_t n, Load load, Store store) {
  T running = a.product ? 1 : 0;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t i = a.reverse ? n - 1 - k : k;
    const T x = load(i), next = a.product ? running * x : running + x;
    store(i, a.exclusive ? running : next);
    running = next;
  }
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Cumulate>();
  const TensorView& x = scope.in(0);
  MICA_CHECK(scope.in(1).count() == 1, kBadShape, "the axis is one number");
  MICA_TRY(const int axis, normalize_axis(Elements(scope.in(1)).integer(0), x.rank));
  MICA_TRY_STATUS(scope.allocate_output(0, x.shape()));
  const TensorView& out = scope.out(0);
  if (x.empty()) return {};
  reduce::AxisSet set;
  set.has[axis] = true;
  const reduce::Loops from = reduce::loops_of(x, set), to = reduce::loops_of(out, set);
  const int64_t n = x.dim(axis), step = x.stride(axis), out_step = out.stride(axis);
  int64_t index[kMaxRank] = {};
  do {
    const char* in = x.as<const char>() + reduce::offset_of(index, from.outer_stride, from.outer_rank);
    char* result = out.as<char>() + reduce::offset_of(index, to.outer_stride, to.outer_rank);
    if (is_float(x.dtype)) {
      run_line<double>(
          a, n, [&](int64_t i) { return load_number(x.dtype, in + i * step); },
          [&](int64_t i, double v) { store_number(x.dtype, result + i * out_step, v); });
    } else {
      run_line<uint64_t>(
          a, n, [&](int64_t i) { return static_cast<uint64_t>(load_int(x.dtype, in + i * step)); },
          [&](int64_t i, uint64_t v) { store_int(x.dtype, result + i * out_step, static_cast<int64_t>(v)); });
    }
  } while (next_index(index, from.outer_dims()));
  return {};
}

}  // namespace

MICA_OP(cumulate) = {.name = "cumulate",
                     .doc = "running sums or products along an axis",
                     .inputs = {2, 2},
                     .attributes = attr_class<Cumulate>(),
                     .infer = infer,
                     .reference = reference};

}  // namespace mica
