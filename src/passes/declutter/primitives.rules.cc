// Operators that have no kernel of their own, spelled by those that have. They wait until nothing else is left to do,
// since other rules look for them.
#include <cfloat>
#include <cmath>
#include <limits>

#include "ops/matmul/gemm.h"
#include "ops/norm/lp_norm.h"
#include "ops/norm/mean_variance_norm.h"
#include "ops/pointwise/is_inf.h"
#include "ops/pointwise/pointwise_op.h"
#include "ops/reduce/reduce.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(abs);
MICA_DECLARE_OP(add);
MICA_DECLARE_OP(bit_not);
MICA_DECLARE_OP(bit_xor);
MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(clip);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(equal);
MICA_DECLARE_OP(exp);
MICA_DECLARE_OP(gemm);
MICA_DECLARE_OP(is_inf);
MICA_DECLARE_OP(is_nan);
MICA_DECLARE_OP(log);
MICA_DECLARE_OP(lp_norm);
MICA_DECLARE_OP(max);
MICA_DECLARE_OP(mean_variance_norm);
MICA_DECLARE_OP(min);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(neg);
MICA_DECLARE_OP(reduce);
MICA_DECLARE_OP(slice);
MICA_DECLARE_OP(sqrt);
MICA_DECLARE_OP(square);
MICA_DECLARE_OP(sub);

namespace {

bool is_f32(const Match& m) { return m["x"]->type.dtype == DType::kF32; }
bool is_counted(const Match& m) { return m["x"]->type.dtype == DType::kI32 || m["x"]->type.dtype == DType::kI64; }

Value* not_as_xor(const Match& m, Builder& build) {
  const DType dtype = m["x"]->type.dtype;
  if (dtype != DType::kBool && !is_counted(m)) return nullptr;
  return build.one(op_bit_xor, {m["x"], build.scalar(dtype, dtype == DType::kBool ? 1 : -1)});
}

Value* nan_as_unequal(const Match& m, Builder& build) {
  if (!is_f32(m)) return nullptr;
  Value* same = build.one(op_equal, {m["x"], m["x"]});
  return build.one(op_bit_xor, {same, build.scalar(DType::kBool, 1)});
}

Value* infinity_as_equal(const Match& m, Builder& build) {
  const auto& a = m.root->attributes<IsInf>();
  if (!is_f32(m) || (!a.negative && !a.positive)) return nullptr;
  const double infinity = std::numeric_limits<double>::infinity();
  Value* x = a.negative && a.positive ? build.one(op_abs, {m["x"]}) : m["x"];
  return build.one(op_equal, {x, build.scalar(DType::kF32, a.positive ? infinity : -infinity)});
}

// A wider type of floats has room for all numbers: what is infinite there was so before.
Value* infinity_before_cast(const Match& m, Builder& build) {
  const DType from = m["x"]->type.dtype, to = m["wide"]->type.dtype;
  if (from != DType::kF32 || to != DType::kF64) return nullptr;
  return build.again(*m.root, {m["x"]});
}

Value* neg_as_sub(const Match& m, Builder& build) {
  return is_counted(m) ? build.one(op_sub, {build.scalar(m["x"]->type.dtype, 0), m["x"]}) : nullptr;
}

Value* abs_as_max(const Match& m, Builder& build) {
  if (!is_counted(m)) return nullptr;
  Value* negative = build.one(op_sub, {build.scalar(m["x"]->type.dtype, 0), m["x"]});
  return build.one(op_max, {m["x"], negative});
}

// A vector of length 0 stays 0: it is divided by the least normal number. Squares of numbers that are all small or all
// large have no place among floats: vectors are divided by their largest number before.
Value* divided_by_length(const Match& m, Builder& build) {
  const auto& a = m.root->attributes<LpNorm>();
  if (!is_f32(m)) return nullptr;
  Value* axis = build.ints(std::vector<int64_t>{a.axis});
  const auto divided = [&](Value* x, ReduceKind kind, Value* of, float most) {
    Value* size = build.one(op_reduce, Reduce{.kind = kind}, {of, axis});
    return build.one(op_div, {x, build.one(op_clip, UnaryParameters{.alpha = FLT_MIN, .beta = most}, {size})});
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (a.p == 1) return divided(m["x"], ReduceKind::kL1, m["x"], kInfinity);
  Value* x = divided(m["x"], ReduceKind::kMax, build.one(op_abs, {m["x"]}), FLT_MAX);
  return divided(x, ReduceKind::kL2, x, kInfinity);
}

Value* centred_and_scaled(const Match& m, Builder& build) {
  if (!is_f32(m)) return nullptr;
  const Ints& list = m.root->attributes<MeanVarianceNorm>().axes;
  if (list.empty()) return nullptr;
  Value* axes = build.ints(std::vector<int64_t>(list.begin(), list.end()));
  const auto mean_of = [&](Value* v) { return build.one(op_reduce, Reduce{.kind = ReduceKind::kMean}, {v, axes}); };
  Value* centred = build.one(op_sub, {m["x"], mean_of(m["x"])});
  Value* deviation = build.one(op_sqrt, {mean_of(build.one(op_square, {centred}))});
  // The standard's definition adds 1e-9 to the deviation.
  return build.one(op_div, {centred, build.one(op_add, {deviation, build.scalar(DType::kF32, 1e-9)})});
}

// log Σ exp(x) = log Σ exp(x - m) + m for the largest x, m. Infinite ones are taken as the largest finite number:
// -inf - -inf would be NaN.
Value* log_of_sum(const Match& m, Builder& build) {
  Reduce reduce = m.root->attributes<Reduce>();
  if (reduce.kind != ReduceKind::kLogSumExp || !is_f32(m)) return nullptr;
  const auto reduced = [&](ReduceKind kind, bool keep, Value* v) {
    Reduce one = reduce;
    one.kind = kind;
    one.keep_dims = keep;
    Values inputs = m.root->inputs;
    inputs[0] = v;
    return build.one(op_reduce, one, inputs);
  };
  const auto finite = [&](Value* v) {
    return build.one(op_clip, UnaryParameters{.alpha = -FLT_MAX, .beta = FLT_MAX}, {v});
  };
  Value* largest = finite(reduced(ReduceKind::kMax, true, m["x"]));
  Value* terms = build.one(op_exp, {build.one(op_sub, {m["x"], largest})});
  Value* sum = build.one(op_log, {reduced(ReduceKind::kSum, reduce.keep_dims, terms)});
  if (!reduce.keep_dims) largest = contents::reshaped(build, largest, m.root->outputs[0]->type.shape);
  return largest ? build.one(op_add, {sum, largest}) : nullptr;
}

// Kernels add a summand of one number for each column, or of a whole matrix.
Value* summand_apart(const Match& m, Builder& build) {
  Gemm product = m.root->attributes<Gemm>();
  const Shape &c = m["c"]->type.shape, &out = m.root->outputs[0]->type.shape;
  if (m["c"]->type.dtype != DType::kF32 || !c.known() || !out.known()) return nullptr;
  const bool one_row = c.rank >= 1 && (c.rank == 1 || c[0].is(1)) && c.back() == out.back();
  if (product.beta == 1 && (one_row || c == out)) return nullptr;
  const float beta = product.beta;
  product.beta = 1;
  Value* made = build.one(op_gemm, product, {m.root->inputs[0], m.root->inputs[1]});
  if (beta == 0) return made;
  return build.one(op_add, {made, beta == 1 ? m["c"] : build.one(op_mul, {m["c"], build.scalar(DType::kF32, beta)})});
}

// Rows of a few coordinates, of points and boxes: a row of its own for each of them takes longer than whole parts. Of
// an open number there may be many.
constexpr int64_t kMostParts = 4, kLeastElements = 512;

const OpDef* joins(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kSumSquare:
    case ReduceKind::kL2: return &op_add;
    case ReduceKind::kProd: return &op_mul;
    case ReduceKind::kMax: return &op_max;
    case ReduceKind::kMin: return &op_min;
    default: return nullptr;
  }
}

Value* part_by_part(const Match& m, Builder& build) {
  const auto& a = m.root->attributes<Reduce>();
  const Shape& shape = m["x"]->type.shape;
  const TensorView& axes = m["axes"]->constant->view;
  const OpDef* join = joins(a.kind);
  if (!join || !is_f32(m) || !shape.known() || axes.count() != 1) return nullptr;
  const int64_t axis = Elements(axes).integer(0), last = shape.rank - 1;
  if ((axis != -1 && axis != last) || last < 0 || !shape.back().is_fixed()) return nullptr;
  const auto count = shape.fixed() ? element_count(shape) : kLeastElements;
  if (!count.ok() || *count < kLeastElements) return nullptr;
  const int64_t parts = shape[static_cast<int>(last)].value();
  if (parts < 2 || parts > kMostParts) return nullptr;
  const bool squares = a.kind == ReduceKind::kSumSquare || a.kind == ReduceKind::kL2;
  Value* x = squares ? build.one(op_square, {m["x"]}) : m["x"];
  const auto number = [&](int64_t n) { return build.ints(std::vector<int64_t>{n}); };
  Value *sum = nullptr, *along = number(last), *begin = number(0);
  for (int64_t i = 1; i <= parts; ++i) {
    Value* end = number(i);
    Value* part = build.one(op_slice, {x, begin, end, along});
    sum = sum ? build.one(*join, {sum, part}) : part;
    begin = end;
  }
  if (a.kind == ReduceKind::kL2) sum = build.one(op_sqrt, {sum});
  return a.keep_dims ? sum : contents::reshaped(build, sum, m.root->outputs[0]->type.shape);
}

// Exact, and a division takes ten times as long. Few numbers: weights are divided when they are folded.
Value* by_power_of_two(const Match& m, Builder& build) {
  constexpr int64_t kMost = 4096;
  if (!is_f32(m) || m["c"]->constant->view.count() > kMost) return nullptr;
  std::vector<double> list = contents::numbers(*m["c"]);
  for (double& c : list) {
    int exponent = 0;
    if (std::frexp(std::fabs(c), &exponent) != 0.5 || std::abs(exponent) > 120) return nullptr;
    c = 1 / c;
  }
  return build.one(op_mul, {m["x"], contents::constant(build, DType::kF32, contents::dims_of(*m["c"]), list)});
}

// One pass instead of two.
Value* sum_of_squares(const Match& m, Builder& build) {
  Reduce reduce = m.root->attributes<Reduce>();
  if (!is_f32(m) || reduce.kind != ReduceKind::kSum) return nullptr;
  reduce.kind = ReduceKind::kSumSquare;
  Values inputs = m.root->inputs;
  inputs[0] = m["x"];
  return build.one(op_reduce, reduce, inputs);
}

std::vector<Rule> make() {
  return {
      {"not-is-xor", "not x → x xor all bits", is(op_bit_not, {any("x")}), not_as_xor},
      {"nan-is-unequal", "is_nan(x) → not x = x", is(op_is_nan, {any("x")}), nan_as_unequal},
      {"infinity-is-equal", "is_inf(x) → |x| = ∞", is(op_is_inf, {any("x")}), infinity_as_equal},
      {"infinity-before-cast", "is_inf(cast(x) to a wider type) → is_inf(x)",
       is(op_is_inf, {is(op_cast, {any("x")}).as("wide")}), infinity_before_cast},
      {"neg-is-sub", "-x → 0 - x of integers", is(op_neg, {any("x")}), neg_as_sub},
      {"abs-is-max", "|x| → max(x, 0 - x) of integers", is(op_abs, {any("x")}), abs_as_max},
      {"spell-out-lp-norm", "lp_norm(x) → u / length(u), u = x / max(|x|)", is(op_lp_norm, {any("x")}),
       divided_by_length},
      {"spell-out-mean-variance-norm", "mean_variance_norm(x) → c / (√(mean(c²)) + 1e-9), c = x - mean(x)",
       is(op_mean_variance_norm, {any("x")}), centred_and_scaled},
      {"spell-out-log-sum-exp", "log Σ exp(x) → log Σ exp(x - m) + m, m = max(x)", is(op_reduce, {any("x")}).rest(),
       log_of_sum},
      {"summand-apart", "α·A·B + β·C → α·A·B, β·C, their sum: where C is no row and no whole matrix, or β is not 1",
       is(op_gemm, {any("a"), any("b"), any("c")}), summand_apart},
      {"divisor-of-two", "x / c → x · (1 / c), c powers of two", is(op_div, {any("x"), constant("c")}),
       by_power_of_two},
      {"sum-of-squares", "Σ square(x) → Σ x² in one", is(op_reduce, {is(op_square, {any("x")}).once()}).rest(),
       sum_of_squares},
      {"reduce-part-by-part", "Σ x of rows of two to four → x₀ + x₁ …; Π, maxima, minima and lengths alike",
       is(op_reduce, {any("x"), constant("axes")}), part_by_part},
  };
}

}  // namespace

MICA_RULES(primitives) = {.rank = 30, .make = make, .last = true};

}  // namespace mica
