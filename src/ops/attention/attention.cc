// Vaswani et al., Attention Is All You Need (arXiv:1706.03762); grouped queries: Ainslie et al. (arXiv:2305.13245).
#include "ops/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "types/dense.h"
#include "types/infer.h"
#include "types/stop.h"

namespace mica {
namespace {

enum Input { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths };

// One operand as [batch, heads, length, size], whichever of the two forms it has.
struct Part {
  Dim batch, heads, length, size;
};
Result<Part> part_of(const Shape& s, int64_t heads, int input, DimTable& dims) {
  if (s.rank == 4) return Part{s[0], s[1], s[2], s[3]};
  MICA_CHECK(heads > 0, kBadAttribute, "operands of 3 dimensions need the number of heads, which is {}", heads);
  if (s[2].is_fixed())
    MICA_CHECK(s[2].value() % heads == 0, kBadShape, "input {}: {} elements cannot be split into {} heads", input,
               s[2].value(), heads);
  return Part{s[0], heads, s[1], dims.floor_div(s[2], heads)};
}

Status check_cache(const InferScope& scope) {
  MICA_CHECK(scope.has(kPastKey) == scope.has(kPastValue), kBadModel, "past keys and past values come together");
  MICA_CHECK(!scope.has(kPastKey) || !scope.has(kLengths), kBadModel,
             "a cache is given either as past keys and values or with lengths");
  return {};
}

bool agree(Dim a, Dim b) { return !a.is_fixed() || !b.is_fixed() || a == b; }

// Kernels trust what is checked here: at bind all of it is known.
Status check_past(const InferScope& scope, int input, int fresh_input, const Part& fresh) {
  if (!scope.has(input)) return {};
  MICA_TRY_STATUS(require_same_dtype(scope, fresh_input, input));
  const Shape& past = scope.shape(input);
  if (!past.known()) return {};
  MICA_TRY_STATUS(require_rank(scope, input, 4, 4));
  MICA_CHECK(agree(past[0], fresh.batch) && agree(past[1], fresh.heads) && agree(past[3], fresh.size), kBadShape,
             "input {} has another number of sequences, heads or elements than what it goes before", input);
  return {};
}

Status check_operands(const InferScope& scope, const Part& q, const Part& k, const Part& v) {
  MICA_CHECK(agree(q.batch, k.batch) && agree(q.batch, v.batch), kBadShape,
             "queries, keys and values of different numbers of sequences");
  MICA_CHECK(agree(k.heads, v.heads) && agree(k.length, v.length), kBadShape,
             "keys and values of different numbers of heads or positions");
  MICA_TRY_STATUS(check_past(scope, kPastKey, kK, k));
  MICA_TRY_STATUS(check_past(scope, kPastValue, kV, v));
  if (!scope.has(kPastKey) || !scope.shape(kPastKey).known() || !scope.shape(kPastValue).known()) return {};
  MICA_CHECK(agree(scope.shape(kPastKey)[2], scope.shape(kPastValue)[2]), kBadShape,
             "past keys and values of different numbers of positions");
  return {};
}

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<Attention>();
  MICA_TRY_STATUS(require_float(scope, kQ));
  for (int i : {kQ, kK, kV}) MICA_TRY_STATUS(require_rank(scope, i, 3, 4));
  MICA_TRY_STATUS(require_same_dtype(scope, kQ, kK));
  MICA_CHECK(a.left_window >= -1 && a.right_window >= -1, kBadAttribute, "windows are -1 or more, not {} and {}",
             a.left_window, a.right_window);
  MICA_TRY_STATUS(check_cache(scope));
  const DType dtype = scope.dtype(kQ);
  for (int i = 0; i < 4; ++i) scope.out(i, i == 2 ? scope.dtype(kV) : dtype, Shape());
  const Shape &qs = scope.shape(kQ), &ks = scope.shape(kK), &vs = scope.shape(kV);
  if (!qs.known() || !ks.known() || !vs.known()) return {};
  MICA_CHECK(qs.rank == ks.rank && qs.rank == vs.rank, kBadRank, "queries, keys and values of {}, {} and {} dimensions",
             static_cast<int>(qs.rank), static_cast<int>(ks.rank), static_cast<int>(vs.rank));
  DimTable& dims = scope.dims();
  MICA_TRY(const Part q, part_of(qs, a.q_heads, kQ, dims));
  MICA_TRY(const Part k, part_of(ks, a.kv_heads, kK, dims));
  MICA_TRY(const Part v, part_of(vs, a.kv_heads, kV, dims));
  if (q.size.is_fixed() && k.size.is_fixed())
    MICA_CHECK(q.size == k.size, kBadShape, "heads of {} elements in queries, {} in keys", q.size.value(),
               k.size.value());
  if (q.heads.is_fixed() && k.heads.is_fixed())
    MICA_CHECK(k.heads.value() > 0 && q.heads.value() % k.heads.value() == 0, kBadShape,
               "{} heads of queries for {} of keys", q.heads.value(), k.heads.value());
  MICA_TRY_STATUS(check_operands(scope, q, k, v));
  Dim total = k.length;
  if (scope.has(kPastKey) && scope.shape(kPastKey).known()) {
    total = dims.add(total, scope.shape(kPastKey)[2]);
  } else if (scope.has(kPastKey)) {
    total = dims.fresh("keys");
  }
  scope.out(
      0, dtype,
      qs.rank == 4 ? Shape{q.batch, q.heads, q.length, v.size} : Shape{q.batch, q.length, dims.mul(q.heads, v.size)});
  scope.out(1, dtype, Shape{k.batch, k.heads, total, k.size});
  scope.out(2, scope.dtype(kV), Shape{v.batch, v.heads, total, v.size});
  scope.out(3, dtype, Shape{q.batch, q.heads, q.length, total});
  return {};
}

// Dense numbers with steps for batch, head and position.
struct Tensor {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  int64_t batch_step = 0, head_step = 0, step = 0;
  const double* data = nullptr;
  const double* at(int64_t n, int64_t head, int64_t i) const {
    return data + n * batch_step + head * head_step + i * step;
  }
};
Result<Tensor> load(RunScope& scope, int input, int64_t heads) {
  const TensorView& x = scope.in(input);
  MICA_CHECK(x.rank == 4 || (x.rank == 3 && heads > 0 && x.dim(2) % heads == 0), kBadShape,
             "input {} cannot be split into {} heads", input, heads);
  Tensor t;
  t.batch = x.dim(0);
  t.heads = x.rank == 4 ? x.dim(1) : heads;
  t.length = x.dim(x.rank == 4 ? 2 : 1);
  t.size = x.rank == 4 ? x.dim(3) : x.dim(2) / heads;
  t.batch_step = t.heads * t.length * t.size;
  t.head_step = x.rank == 4 ? t.length * t.size : t.size;
  t.step = x.rank == 4 ? t.size : t.heads * t.size;
  MICA_TRY(t.data, dense_numbers(scope, x));
  return t;
}

// The past and then the new ones, as [batch, heads, length, size].
Result<Tensor> append(RunScope& scope, const Tensor& fresh, int past_input, int output) {
  MICA_TRY(const Tensor past, scope.has(past_input) ? load(scope, past_input, fresh.heads) : Result<Tensor>(Tensor{}));
  if (past.data)
    MICA_CHECK(past.batch == fresh.batch && past.heads == fresh.heads && past.size == fresh.size, kBadShape,
               "a past of {} x {} x {} x {} for {} x {} x {} x {}", past.batch, past.heads, past.length, past.size,
               fresh.batch, fresh.heads, fresh.length, fresh.size);
  Tensor all{fresh.batch, fresh.heads, past.length + fresh.length, fresh.size, 0, 0, fresh.size, nullptr};
  all.head_step = all.length * all.size;
  all.batch_step = all.heads * all.head_step;
  MICA_TRY(double* to, zero_numbers(scope, all.batch * all.batch_step));
  all.data = to;
  for (int64_t n = 0; n < all.batch; ++n)
    for (int64_t head = 0; head < all.heads; ++head)
      for (int64_t i = 0; i < all.length; ++i, to += all.size)
        std::copy_n(i < past.length ? past.at(n, head, i) : fresh.at(n, head, i - past.length), all.size, to);
  if (!scope.wants(output)) return all;
  MICA_TRY_STATUS(allocate_output(scope, output, {all.batch, all.heads, all.length, all.size}));
  store_dense(all.data, scope.out(output));
  return all;
}

// The mask's contribution to a score: a summand, or 0 and -inf for a mask of truth values. It broadcasts over batch,
// heads and queries; keys beyond its end are hidden.
class Mask {
 public:
  Mask(const RunScope& scope, int64_t keys)
      : present_(scope.has(kMask)), elements_(present_ ? scope.in(kMask) : TensorView()) {
    if (!present_) return;
    view_ = scope.in(kMask);
    keys_ = std::min(keys, view_.rank ? view_.dim(view_.rank - 1) : 1);
  }
  Status check(const int64_t (&dims)[3]) const {
    for (int i = 0; present_ && i < view_.rank - 1; ++i) {
      const int at = 3 - (view_.rank - 1) + i;
      MICA_CHECK(at >= 0 && (view_.dim(i) == 1 || view_.dim(i) == dims[at]), kBadShape,
                 "axis {} of the mask is {}, which does not broadcast", i, view_.dim(i));
    }
    return {};
  }
  double at(int64_t n, int64_t head, int64_t query, int64_t key) const {
    if (!present_) return 0;
    if (key >= keys_) return -std::numeric_limits<double>::infinity();
    const int64_t full[] = {n, head, query};
    int64_t linear = 0;
    for (int i = 0; i < view_.rank - 1; ++i)
      linear = linear * view_.dim(i) + (view_.dim(i) == 1 ? 0 : full[3 - (view_.rank - 1) + i]);
    linear = view_.rank ? linear * view_.dim(view_.rank - 1) + key : 0;
    const double value = elements_.number(linear);
    if (view_.dtype != DType::kBool) return value;
    return value != 0 ? 0 : -std::numeric_limits<double>::infinity();
  }

 private:
  bool present_;
  Elements elements_;
  TensorView view_;
  int64_t keys_ = 0;
};

struct Problem {
  Attention attributes;
  Tensor q, k, v;
  int64_t past = 0;
  double scale = 1;
  const int64_t* lengths = nullptr;  // of each batch's keys, or null
};

// Whether query i may see key j.
bool sees(const Problem& p, int64_t n, int64_t i, int64_t j) {
  const int64_t place = i + (p.lengths ? p.lengths[n] - p.q.length : p.past);
  if (p.lengths && j >= p.lengths[n]) return false;
  if (p.attributes.causal && j > place) return false;
  if (p.attributes.left_window >= 0 && j < place - p.attributes.left_window) return false;
  return p.attributes.right_window < 0 || j <= place + p.attributes.right_window;
}

// Softmax of one row in place; a row of nothing but -inf becomes zeros, and with `zero_nan` one with NaN too.
void softmax(double* row, int64_t count, bool zero_nan) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t j = 0; j < count; ++j) top = row[j] > top || std::isnan(row[j]) ? row[j] : top;
  if (top == -std::numeric_limits<double>::infinity()) {
    std::fill_n(row, count, 0.0);
    return;
  }
  for (int64_t j = 0; j < count; ++j) sum += row[j] = std::exp(row[j] - top);
  const bool zeros = zero_nan && std::isnan(sum);
  for (int64_t j = 0; j < count; ++j) row[j] = zeros ? 0 : row[j] / sum;
}

// Scores of one query; `kept` receives the stage that output 3 shows.
void score_row(const Problem& p, const Mask& mask, const int64_t (&at)[3], double* row, double* kept) {
  const int64_t keys = p.k.length, head = at[1] / (p.q.heads / p.k.heads);
  const double* query = p.q.at(at[0], at[1], at[2]);
  const auto keep = [&](int64_t stage) {
    if (kept && p.attributes.scores == stage) std::copy_n(row, keys, kept);
  };
  for (int64_t j = 0; j < keys; ++j) {
    const double* key = p.k.at(at[0], head, j);
    double sum = 0;
    for (int64_t e = 0; e < p.q.size; ++e) sum += query[e] * key[e];
    row[j] = sum * p.scale;
  }
  keep(0);
  const auto cap_scores = [&] {
    const auto cap = static_cast<double>(p.attributes.softcap);
    for (int64_t j = 0; cap > 0 && j < keys; ++j) row[j] = cap * std::tanh(row[j] / cap);
  };
  if (!p.attributes.mask_first) cap_scores(), keep(1);
  for (int64_t j = 0; j < keys; ++j)
    row[j] =
        sees(p, at[0], at[2], j) ? row[j] + mask.at(at[0], at[1], at[2], j) : -std::numeric_limits<double>::infinity();
  if (p.attributes.mask_first) keep(1), cap_scores();
  keep(2);
  softmax(row, keys, p.attributes.zero_nan);
  keep(3);
}

Result<Problem> problem_of(RunScope& scope) {
  Problem p{.attributes = scope.attributes<Attention>()};
  MICA_TRY(p.q, load(scope, kQ, p.attributes.q_heads));
  MICA_TRY(const Tensor k, load(scope, kK, p.attributes.kv_heads));
  MICA_TRY(const Tensor v, load(scope, kV, p.attributes.kv_heads));
  MICA_TRY(p.k, append(scope, k, kPastKey, 1));
  MICA_TRY(p.v, append(scope, v, kPastValue, 2));
  MICA_CHECK(p.q.batch == p.k.batch && p.q.batch == p.v.batch && p.k.heads == p.v.heads && p.k.length == p.v.length &&
                 p.q.size == p.k.size && p.k.heads > 0 && p.q.heads % p.k.heads == 0,
             kBadShape, "queries {} x {} x {}, keys {} x {} x {}, values {} x {} x {}", p.q.batch, p.q.heads, p.q.size,
             p.k.batch, p.k.heads, p.k.size, p.v.batch, p.v.heads, p.v.size);
  p.past = p.k.length - k.length;
  p.scale =
      p.attributes.scale != 0 ? static_cast<double>(p.attributes.scale) : 1 / std::sqrt(static_cast<double>(p.q.size));
  if (scope.has(kLengths)) {
    MICA_CHECK(scope.in(kLengths).count() == p.q.batch, kBadShape, "{} lengths for {} sequences",
               scope.in(kLengths).count(), p.q.batch);
    MICA_TRY(p.lengths, dense_integers(scope, scope.in(kLengths)));
    for (int64_t n = 0; n < p.q.batch; ++n)
      MICA_CHECK(p.lengths[n] >= 0 && p.lengths[n] <= p.k.length, kBadValue, "a length of {} in a cache of {}",
                 p.lengths[n], p.k.length);
  }
  return p;
}

Status reference(RunScope& scope) {
  MICA_TRY(const Problem p, problem_of(scope));
  const bool four = scope.in(kQ).rank == 4;
  const int64_t batch = p.q.batch, heads = p.q.heads, queries = p.q.length, keys = p.k.length, size = p.v.size;
  if (scope.wants(3)) MICA_TRY_STATUS(allocate_output(scope, 3, {batch, heads, queries, keys}));
  MICA_TRY_STATUS(four ? allocate_output(scope, 0, {batch, heads, queries, size})
                       : allocate_output(scope, 0, {batch, queries, heads * size}));
  const Mask mask(scope, keys);
  MICA_TRY_STATUS(mask.check({batch, heads, queries}));
  MICA_TRY(double* row, zero_numbers(scope, keys));
  MICA_TRY(double* kept, zero_numbers(scope, scope.wants(3) ? batch * heads * queries * keys : 0));
  MICA_TRY(double* y, zero_numbers(scope, batch * heads * queries * size));
  StopCheck stop(scope);
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < queries; ++i) {
        MICA_TRY_STATUS(stop.before(keys * (size + 1)));
        score_row(p, mask, {n, head, i}, row,
                  scope.wants(3) ? kept + ((n * heads + head) * queries + i) * keys : nullptr);
        double* to = y + (four ? (n * heads + head) * queries + i : (n * queries + i) * heads + head) * size;
        for (int64_t j = 0; j < keys; ++j) {
          const double* value = p.v.at(n, head / (heads / p.k.heads), j);
          for (int64_t e = 0; row[j] != 0 && e < size; ++e) to[e] += row[j] * value[e];
        }
      }
  if (scope.wants(0)) store_dense(y, scope.out(0));
  if (scope.wants(3)) store_dense(kept, scope.out(3));
  return {};
}

// Two products of queries and keys, over the sizes of keys and of values.
int64_t flops(const CostScope& scope) {
  const auto outputs = element_count(scope.outputs[0].shape);
  const Shape& k = scope.inputs[kK].shape;
  if (!outputs.ok() || k.rank < 3 || !k[k.rank == 4 ? 2 : 1].is_fixed()) return 0;
  return 4 * *outputs * k[k.rank == 4 ? 2 : 1].value();
}

}  // namespace

MICA_OP(attention) = {
    .name = "attention",
    .doc =
        "softmax(scale · q · kᵀ + mask) · v for each head; inputs q, k, v, mask, past keys, past values, lengths; "
        "outputs y, keys, values, scores",
    .inputs = {3, 7},
    .outputs = {1, 4},
    .attributes = attr_class<Attention>(),
    .infer = infer,
    .reference = reference,
    .flops = flops};

}  // namespace mica
