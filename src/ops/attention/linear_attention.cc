// A state S for each head, updated by each token: S = exp(g)·S + k ⊗ v'; y = scale · q·S. v' is v (linear, gated) or
// β·(v - k·S) (delta rules: Yang et al., arXiv:2412.06464).
#include "ops/attention/linear_attention.h"

#include <cmath>

#include "types/dense.h"
#include "types/infer.h"
#include "types/stop.h"

namespace mica {
namespace {

enum Input { kQ, kK, kV, kPast, kDecay, kBeta };

bool is_gated(UpdateRule rule) { return rule == UpdateRule::kGated || rule == UpdateRule::kGatedDelta; }
bool is_delta(UpdateRule rule) { return rule == UpdateRule::kDelta || rule == UpdateRule::kGatedDelta; }

Status check(const LinearAttention& a) {
  MICA_CHECK(a.q_heads > 0 && a.kv_heads > 0 && a.q_heads % a.kv_heads == 0, kBadAttribute,
             "{} heads of queries for {} of keys", a.q_heads, a.kv_heads);
  return {};
}

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<LinearAttention>();
  MICA_TRY_STATUS(check(a));
  MICA_TRY_STATUS(require_float(scope, kQ));
  for (int i : {kQ, kK, kV}) MICA_TRY_STATUS(require_rank(scope, i, 3, 3));
  MICA_CHECK(scope.has(kDecay) == is_gated(a.update_rule), kBadModel, "gated rules have a decay, others none");
  MICA_CHECK(scope.has(kBeta) == is_delta(a.update_rule), kBadModel, "delta rules have an update rate, others none");
  const DType state = scope.has(kPast) ? scope.dtype(kPast) : scope.dtype(kQ);
  scope.out(0, scope.dtype(kQ), Shape());
  scope.out(1, state, scope.has(kPast) ? scope.shape(kPast) : Shape());
  const Shape &q = scope.shape(kQ), &v = scope.shape(kV);
  if (!q.known() || !v.known()) return {};
  DimTable& dims = scope.dims();
  const Dim value = dims.floor_div(v[2], a.kv_heads);
  scope.out(0, scope.dtype(kQ), Shape{q[0], q[1], dims.mul(value, a.q_heads)});
  scope.out(1, state, Shape{q[0], a.kv_heads, dims.floor_div(q[2], a.q_heads), value});
  return {};
}

struct Problem {
  LinearAttention attributes;
  int64_t batch, length, keys, values;  // sizes of a key and of a value
  int64_t decay_size = 0, beta_size = 0;
  double scale = 1;
  const double *q = nullptr, *k = nullptr, *v = nullptr, *decay = nullptr, *beta = nullptr;
  double *state = nullptr, *y = nullptr;
};

Result<Problem> problem_of(RunScope& scope) {
  const auto& a = scope.attributes<LinearAttention>();
  MICA_TRY_STATUS(check(a));
  const TensorView &q = scope.in(kQ), &k = scope.in(kK), &v = scope.in(kV);
  MICA_CHECK(q.rank == 3 && k.rank == 3 && v.rank == 3 && q.dim(0) == k.dim(0) && q.dim(0) == v.dim(0) &&
                 q.dim(1) == k.dim(1) && q.dim(1) == v.dim(1),
             kBadShape, "queries, keys and values differ in batch or length");
  Problem p{a, q.dim(0), q.dim(1), q.dim(2) / a.q_heads, v.dim(2) / a.kv_heads};
  MICA_CHECK(p.keys * a.q_heads == q.dim(2) && p.keys * a.kv_heads == k.dim(2) && p.values * a.kv_heads == v.dim(2),
             kBadShape, "{}, {} and {} elements cannot be split into {} and {} heads", q.dim(2), k.dim(2), v.dim(2),
             a.q_heads, a.kv_heads);
  p.scale = a.scale != 0 ? static_cast<double>(a.scale) : 1 / std::sqrt(static_cast<double>(p.keys));
  MICA_TRY(p.q, dense_numbers(scope, q));
  MICA_TRY(p.k, dense_numbers(scope, k));
  MICA_TRY(p.v, dense_numbers(scope, v));
  const int64_t tokens = p.batch * p.length;
  if (is_gated(a.update_rule)) {
    const int64_t count = scope.in(kDecay).count();
    p.decay_size = count == tokens * a.kv_heads ? a.kv_heads : a.kv_heads * p.keys;
    MICA_CHECK(count == tokens * p.decay_size, kBadShape, "{} decays for {} tokens of {} heads", count, tokens,
               a.kv_heads);
    MICA_TRY(p.decay, dense_numbers(scope, scope.in(kDecay)));
  }
  if (is_delta(a.update_rule)) {
    const int64_t count = scope.in(kBeta).count();
    p.beta_size = count == tokens ? 1 : a.kv_heads;
    MICA_CHECK(count == tokens * p.beta_size, kBadShape, "{} update rates for {} tokens of {} heads", count, tokens,
               a.kv_heads);
    MICA_TRY(p.beta, dense_numbers(scope, scope.in(kBeta)));
  }
  const int64_t states = p.batch * a.kv_heads * p.keys * p.values;
  MICA_TRY(p.state, scope.has(kPast) ? dense_numbers(scope, scope.in(kPast)) : zero_numbers(scope, states));
  MICA_CHECK(!scope.has(kPast) || scope.in(kPast).count() == states, kBadShape,
             "a past state of {} elements, expected {}", scope.in(kPast).count(), states);
  MICA_TRY(p.y, zero_numbers(scope, tokens * a.q_heads * p.values));
  return p;
}

// One token of one head: changes `state`; `change` is scratch of a value's size.
void update(const Problem& p, int64_t token, int64_t head, double* state, double* change) {
  const double* key = p.k + (token * p.attributes.kv_heads + head) * p.keys;
  const double* value = p.v + (token * p.attributes.kv_heads + head) * p.values;
  for (int64_t i = 0; p.decay && i < p.keys; ++i) {
    const int64_t at = p.decay_size == p.attributes.kv_heads ? head : head * p.keys + i;
    const double factor = std::exp(p.decay[token * p.decay_size + at]);
    for (int64_t j = 0; j < p.values; ++j) state[i * p.values + j] *= factor;
  }
  for (int64_t j = 0; j < p.values; ++j) {
    change[j] = value[j];
    if (!p.beta) continue;
    for (int64_t i = 0; i < p.keys; ++i) change[j] -= state[i * p.values + j] * key[i];
    change[j] *= p.beta[token * p.beta_size + (p.beta_size == 1 ? 0 : head)];
  }
  for (int64_t i = 0; i < p.keys; ++i)
    for (int64_t j = 0; j < p.values; ++j) state[i * p.values + j] += key[i] * change[j];
}

Status reference(RunScope& scope) {
  MICA_TRY(const Problem p, problem_of(scope));
  const int64_t q_heads = p.attributes.q_heads, kv_heads = p.attributes.kv_heads, group = q_heads / kv_heads;
  MICA_TRY_STATUS(allocate_output(scope, 0, {p.batch, p.length, q_heads * p.values}));
  MICA_TRY_STATUS(allocate_output(scope, 1, {p.batch, kv_heads, p.keys, p.values}));
  MICA_TRY(double* change, zero_numbers(scope, p.values));
  StopCheck stop(scope);
  for (int64_t n = 0; n < p.batch; ++n)
    for (int64_t head = 0; head < kv_heads; ++head) {
      double* state = p.state + (n * kv_heads + head) * p.keys * p.values;
      for (int64_t t = 0; t < p.length; ++t) {
        MICA_TRY_STATUS(stop.before(p.keys * p.values * (group + 3)));
        const int64_t token = n * p.length + t;
        update(p, token, head, state, change);
        for (int64_t h = head * group; h < (head + 1) * group; ++h) {
          const double* query = p.q + (token * q_heads + h) * p.keys;
          double* y = p.y + (token * q_heads + h) * p.values;
          for (int64_t i = 0; i < p.keys; ++i)
            for (int64_t j = 0; j < p.values; ++j) y[j] += p.scale * query[i] * state[i * p.values + j];
        }
      }
    }
  if (scope.wants(0)) store_dense(p.y, scope.out(0));
  if (scope.wants(1)) store_dense(p.state, scope.out(1));
  return {};
}

}  // namespace

MICA_OP(linear_attention) = {
    .name = "linear_attention",
    .doc = "attention through a state per head; inputs q, k, v, past state, decay, update rate; outputs y, state",
    .inputs = {3, 6},
    .outputs = {1, 2},
    .attributes = attr_class<LinearAttention>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
