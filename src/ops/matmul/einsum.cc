#include "ops/matmul/einsum.h"

#include "types/dense.h"
#include "types/infer.h"
#include "types/stop.h"

namespace mica {
namespace {

using einsum::Axes, einsum::Equation, einsum::kLabels;

Status infer(InferScope& scope) {
  std::array<int, einsum::kMaxOperands> ranks{};
  const size_t count = scope.inputs.size();
  MICA_CHECK(count <= ranks.size(), kLimit, "{} operands: at most {} are supported", count, ranks.size());
  bool known = true;
  for (size_t i = 0; i < count; ++i) {
    const int input = static_cast<int>(i);
    MICA_TRY_STATUS(require_tensor(scope, input));
    MICA_TRY_STATUS(require_same_dtype(scope, 0, input));
    known = known && scope.shape(input).known();
    ranks[i] = scope.shape(input).rank;
  }
  MICA_CHECK(is_float(scope.dtype(0)) || is_integer(scope.dtype(0)), kBadType, "a sum of {}", name_of(scope.dtype(0)));
  scope.out(0, scope.dtype(0), Shape());
  if (!known) return {};
  const Name& text = scope.attributes<Einsum>().equation;
  MICA_TRY(const Equation e, einsum::parse(text, std::span(ranks.data(), count)));
  std::array<Dim, kLabels> size;
  size.fill(1);
  for (int i = 0; i < e.operands; ++i) {
    const Axes& axes = e.in[static_cast<size_t>(i)];
    for (int k = 0; k < axes.count; ++k) {
      Dim& dim = size[static_cast<size_t>(axes.label[static_cast<size_t>(k)])];
      const Dim own = scope.shape(i)[k];
      if (dim.is_fixed() && own.is_fixed())
        MICA_CHECK(dim == own || dim.is(1) || own.is(1), kBadShape,
                   "`{}`: axis {} of operand {} is {} where another has {}", text, k, i, own.value(), dim.value());
      if (dim.is(1) || (!dim.is_fixed() && own.is_fixed() && !own.is(1))) dim = own;
    }
  }
  Shape out = Shape::of_rank(e.out.count);
  for (int k = 0; k < e.out.count; ++k) out[k] = size[static_cast<size_t>(e.out.label[static_cast<size_t>(k)])];
  scope.out(0, scope.dtype(0), out);
  return {};
}

// The sum as nested loops: the result's labels outside, the others inside; each operand is walked with a step per
// label.
struct Loops {
  int count = 0, outer = 0, operands = 0;
  std::array<int64_t, kLabels> size{};
  std::array<std::array<int64_t, einsum::kMaxOperands>, kLabels> step{};
};

Result<Loops> loops_of(const RunScope& scope, const Equation& e) {
  std::array<int64_t, kLabels> size;
  size.fill(1);
  std::array<bool, kLabels> used{};
  for (int i = 0; i < e.operands; ++i) {
    const Axes& axes = e.in[static_cast<size_t>(i)];
    for (int k = 0; k < axes.count; ++k) {
      const auto label = static_cast<size_t>(axes.label[static_cast<size_t>(k)]);
      const int64_t own = scope.in(i).dim(k);
      MICA_CHECK(size[label] == own || size[label] == 1 || own == 1, kBadShape,
                 "axis {} of operand {} is {} where another has {}", k, i, own, size[label]);
      if (size[label] == 1) size[label] = own;
      used[label] = true;
    }
  }
  Loops loops;
  loops.operands = e.operands;
  std::array<int, kLabels> place;
  place.fill(-1);
  const auto add = [&](size_t label) {
    place[label] = loops.count;
    loops.size[static_cast<size_t>(loops.count++)] = size[label];
  };
  for (int8_t label : e.out.span()) add(static_cast<size_t>(label));
  loops.outer = loops.count;
  for (size_t label = 0; label < kLabels; ++label)
    if (used[label] && place[label] < 0) add(label);
  for (int i = 0; i < e.operands; ++i) {
    const Axes& axes = e.in[static_cast<size_t>(i)];
    int64_t step = 1;
    for (int k = axes.count; k-- > 0;) {
      const int64_t own = scope.in(i).dim(k);
      const auto loop = static_cast<size_t>(place[static_cast<size_t>(axes.label[static_cast<size_t>(k)])]);
      if (own != 1) loops.step[loop][static_cast<size_t>(i)] += step;
      step *= own;
    }
  }
  return loops;
}

template <class T>
Status sum(RunScope& scope, const Loops& loops, const std::array<const T*, einsum::kMaxOperands>& in, T* out) {
  for (int i = 0; i < loops.count; ++i)
    if (loops.size[static_cast<size_t>(i)] == 0) return {};
  const auto operands = static_cast<size_t>(loops.operands), outer = static_cast<size_t>(loops.outer);
  std::array<int64_t, kLabels> index{};
  const std::span<const int64_t> outer_size(loops.size.data(), outer);
  const std::span<const int64_t> inner_size(loops.size.data() + outer, static_cast<size_t>(loops.count) - outer);
  StopCheck stop(scope);
  do {
    T total = 0;
    std::fill(index.begin() + loops.outer, index.end(), 0);
    do {
      MICA_TRY_STATUS(stop.before(1));
      T product = 1;
      for (size_t i = 0; i < operands; ++i) {
        int64_t at = 0;
        for (size_t l = 0; l < static_cast<size_t>(loops.count); ++l) at += index[l] * loops.step[l][i];
        product *= in[i][at];
      }
      total += product;
    } while (next_index(index.data() + outer, inner_size));
    *out++ = total;
  } while (next_index(index.data(), outer_size));
  return {};
}

Status reference(RunScope& scope) {
  std::array<int, einsum::kMaxOperands> ranks{};
  const size_t count = scope.inputs.size();
  MICA_CHECK(count <= ranks.size(), kLimit, "{} operands: at most {} are supported", count, ranks.size());
  for (size_t i = 0; i < count; ++i) ranks[i] = scope.in(static_cast<int>(i)).rank;
  MICA_TRY(const Equation e, einsum::parse(scope.attributes<Einsum>().equation, std::span(ranks.data(), count)));
  MICA_TRY(const Loops loops, loops_of(scope, e));
  MICA_TRY_STATUS(scope.allocate_output(0, std::span(loops.size.data(), static_cast<size_t>(loops.outer))));
  const int64_t elements = scope.out(0).count();
  if (is_float(scope.in(0).dtype)) {
    std::array<const double*, einsum::kMaxOperands> in{};
    for (size_t i = 0; i < count; ++i) {
      MICA_TRY(in[i], dense_numbers(scope, scope.in(static_cast<int>(i))));
    }
    MICA_TRY(double* out, zero_numbers(scope, elements));
    MICA_TRY_STATUS(sum(scope, loops, in, out));
    store_dense(out, scope.out(0));
    return {};
  }
  std::array<const uint64_t*, einsum::kMaxOperands> in{};
  for (size_t i = 0; i < count; ++i) {
    MICA_TRY(const int64_t* list, dense_integers(scope, scope.in(static_cast<int>(i))));
    in[i] = reinterpret_cast<const uint64_t*>(list);  // wraps where signed numbers would be undefined
  }
  MICA_TRY(int64_t * out, zero_integers(scope, elements));
  MICA_TRY_STATUS(sum(scope, loops, in, reinterpret_cast<uint64_t*>(out)));
  store_dense(out, scope.out(0));
  return {};
}

}  // namespace

MICA_OP(einsum) = {.name = "einsum",
                   .doc = "sums of products over labelled axes",
                   .inputs = {1, kAnyNumber},
                   .attributes = attr_class<Einsum>(),
                   .infer = infer,
                   .reference = reference};

}  // namespace mica
