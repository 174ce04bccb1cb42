#include "ops/reduce/reduce.h"

#include <cmath>

#include "ops/reduce/axes.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  const auto& a = scope.attributes<Reduce>();
  const DType dtype = scope.dtype(0);
  const NumberKind kind = kind_of(dtype);
  const bool extreme = a.kind == ReduceKind::kMax || a.kind == ReduceKind::kMin;
  const bool number = kind == NumberKind::kFloat || kind == NumberKind::kSigned || kind == NumberKind::kUnsigned;
  MICA_CHECK((number || (extreme && kind == NumberKind::kBool)) && !is_sub_byte(dtype), kBadType,
             "cannot reduce elements of type {}", name_of(dtype));
  Ints axes;
  const bool known = !scope.has(1) || scope.ints(1, axes);
  if (!known || !scope.shape(0).known()) {
    scope.out(0, dtype, reduce::unknown_shape(scope.shape(0), a.keep_dims, scope.dims()));
    return {};
  }
  MICA_TRY(const reduce::AxisSet set, reduce::axis_set(axes.span(), scope.shape(0).rank, !a.keep_when_empty));
  scope.out(0, dtype, reduce::reduced_shape(scope.shape(0), set, a.keep_dims));
  return {};
}

// What is known of a reduction's elements so far.
struct Accumulator {
  ReduceKind kind;
  double largest = -INFINITY;  // of kLogSumExp
  double value = 0;
  int64_t count = 0;

  void start() {
    count = 0;
    value = kind == ReduceKind::kProd  ? 1
            : kind == ReduceKind::kMax ? -INFINITY
            : kind == ReduceKind::kMin ? INFINITY
                                       : 0;
  }
  void add(double x) {
    ++count;
    switch (kind) {
      case ReduceKind::kMax: value = std::isnan(x) || std::isnan(value) ? NAN : x > value ? x : value; break;
      case ReduceKind::kMin: value = std::isnan(x) || std::isnan(value) ? NAN : x < value ? x : value; break;
      case ReduceKind::kProd: value *= x; break;
      case ReduceKind::kL1: value += std::fabs(x); break;
      case ReduceKind::kL2:
      case ReduceKind::kSumSquare: value += x * x; break;
      case ReduceKind::kLogSumExp: value += std::exp(x - (std::isfinite(largest) ? largest : 0)); break;
      default: value += x;
    }
  }
  double result() const {
    switch (kind) {
      case ReduceKind::kMean: return value / static_cast<double>(count);
      case ReduceKind::kL2: return std::sqrt(value);
      case ReduceKind::kLogSum: return std::log(value);
      case ReduceKind::kLogSumExp: return std::log(value) + (std::isfinite(largest) ? largest : 0);
      default: return value;
    }
  }
};

// Integers whose result is one of them, or a sum, product or mean: modulo 2^64. An empty maximum is the type's lowest
// number.
struct IntAccumulator {
  ReduceKind kind;
  bool is_unsigned;
  int bits;
  int64_t value = 0;
  int64_t count = 0;

  static bool handles(ReduceKind kind) {
    return kind != ReduceKind::kL2 && kind != ReduceKind::kLogSum && kind != ReduceKind::kLogSumExp;
  }
  void start() {
    count = 0;
    const auto top = static_cast<int64_t>(~uint64_t{0} >> (is_unsigned ? 64 - bits : 65 - bits));
    value = kind == ReduceKind::kProd                  ? 1
            : kind == ReduceKind::kMin                 ? top
            : kind == ReduceKind::kMax && !is_unsigned ? -top - 1
                                                       : 0;
  }
  void add(int64_t x) {
    ++count;
    const auto ux = static_cast<uint64_t>(x), uv = static_cast<uint64_t>(value);
    const bool less = is_unsigned ? ux < uv : x < value;
    switch (kind) {
      case ReduceKind::kMax: value = less ? value : x; break;
      case ReduceKind::kMin: value = less ? x : value; break;
      case ReduceKind::kProd: value = static_cast<int64_t>(ux * uv); break;
      case ReduceKind::kL1: value = static_cast<int64_t>(uv + (!is_unsigned && x < 0 ? 0 - ux : ux)); break;
      case ReduceKind::kSumSquare: value = static_cast<int64_t>(uv + ux * ux); break;
      default: value = static_cast<int64_t>(uv + ux);
    }
  }
  int64_t result() const {
    if (kind != ReduceKind::kMean) return value;
    if (count == 0) return 0;
    return is_unsigned ? static_cast<int64_t>(static_cast<uint64_t>(value) / static_cast<uint64_t>(count))
                       : value / count;
  }
};

template <class Each>
void for_each_reduced(const reduce::Loops& loops, Each&& each) {
  if (loops.inner_count() == 0) return;
  int64_t index[kMaxRank] = {};
  do each(reduce::offset_of(index, loops.inner_stride, loops.inner_rank));
  while (next_index(index, loops.inner_dims()));
}

void reduce_one(const Reduce& a, const reduce::Loops& loops, const char* from, DType dtype, void* to) {
  if (!is_float(dtype) && IntAccumulator::handles(a.kind)) {
    IntAccumulator sum{a.kind, kind_of(dtype) != NumberKind::kSigned, dtype == DType::kBool ? 1 : bits_of(dtype)};
    sum.start();
    for_each_reduced(loops, [&](int64_t offset) { sum.add(load_int(dtype, from + offset)); });
    return store_int(dtype, to, sum.result());
  }
  Accumulator sum{a.kind};
  if (a.kind == ReduceKind::kLogSumExp)
    for_each_reduced(loops,
                     [&](int64_t offset) { sum.largest = std::fmax(sum.largest, load_number(dtype, from + offset)); });
  sum.start();
  for_each_reduced(loops, [&](int64_t offset) { sum.add(load_number(dtype, from + offset)); });
  store_number(dtype, to, sum.result());
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Reduce>();
  const TensorView& x = scope.in(0);
  Ints axes;
  if (scope.has(1)) {
    const Elements list(scope.in(1));
    for (int64_t i = 0, n = scope.in(1).count(); i < n; ++i)
      MICA_CHECK(axes.push(list.integer(i)), kBadValue, "too many axes");
  }
  MICA_TRY(const reduce::AxisSet set, reduce::axis_set(axes.span(), x.rank, !a.keep_when_empty));
  const Shape shape = reduce::reduced_shape(x.to_shape(), set, a.keep_dims);
  int64_t dims[kMaxRank];
  for (int i = 0; i < shape.rank; ++i) dims[i] = shape[i].value();
  MICA_TRY_STATUS(scope.allocate_output(0, std::span<const int64_t>(dims, static_cast<size_t>(shape.rank))));
  const TensorView& out = scope.out(0);
  if (out.empty()) return {};
  const reduce::Loops loops = reduce::loops_of(x, set);
  const Elements to(out);
  int64_t index[kMaxRank] = {}, linear = 0;
  do {
    MICA_TRY_STATUS(scope.check_stop());
    // No elements, no address.
    const char* from =
        x.empty() ? nullptr : x.as<const char>() + reduce::offset_of(index, loops.outer_stride, loops.outer_rank);
    reduce_one(a, loops, from, x.dtype, to.address(linear++));
  } while (next_index(index, loops.outer_dims()));
  return {};
}

int64_t flops(const CostScope& scope) {
  auto n = element_count(scope.inputs[0].shape);
  return n.ok() ? *n : 0;
}

}  // namespace

MICA_OP(reduce) = {.name = "reduce",
                   .doc = "sums, extremes, products and norms over axes",
                   .inputs = {1, 2},
                   .attributes = attr_class<Reduce>(),
                   .infer = infer,
                   .reference = reference,
                   .flops = flops,
                   .layout = LayoutRule::kAny};

}  // namespace mica
