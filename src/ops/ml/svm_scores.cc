// One-against-one decisions of support vector machines, and probabilities from them: Wu, Lin and Weng, "Probability
// Estimates for Multi-class Classification by Pairwise Coupling" (2004), the second approach.
#include <algorithm>
#include <cmath>

#include "types/dense.h"
#include "types/infer.h"

namespace mica {
namespace {

enum Input { kKernels, kCoefficients, kRho, kCounts, kProbA, kProbB };

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, kKernels, 2, 2));
  for (int i : {kKernels, kCoefficients, kRho}) MICA_TRY_STATUS(require_float(scope, i));
  MICA_TRY_STATUS(require_rank(scope, kCounts, 1, 1));
  MICA_CHECK(scope.has(kProbA) == scope.has(kProbB), kBadModel, "coefficients of probabilities come in two lists");
  const DType dtype = scope.dtype(kKernels);
  const Shape &rows = scope.shape(kKernels), &classes = scope.shape(kCounts), &pairs = scope.shape(kRho);
  Shape scores, votes;
  if (rows.known() && classes.known() && pairs.known()) {
    MICA_TRY_STATUS(require_rank(scope, kRho, 1, 1));
    votes = Shape{rows[0], classes[0]};
    scores = scope.has(kProbA) ? votes : Shape{rows[0], pairs[0]};
  }
  scope.out(0, dtype, scores);
  scope.out(1, dtype, votes);
  return {};
}

struct Machine {
  int64_t classes = 0, pairs = 0, vectors = 0;
  const double *coefficients = nullptr, *rho = nullptr, *prob_a = nullptr, *prob_b = nullptr;
  const int64_t* counts = nullptr;
};

Result<Machine> machine_of(RunScope& scope) {
  Machine m{.classes = scope.in(kCounts).count(), .pairs = scope.in(kRho).count()};
  MICA_CHECK(scope.in(kKernels).rank == 2, kBadRank, "kernels of {} dimensions", scope.in(kKernels).rank);
  m.vectors = scope.in(kKernels).dim(1);
  constexpr int64_t kMostClasses = 1 << 15;
  MICA_CHECK(m.classes >= 2 && m.classes <= kMostClasses && m.pairs == m.classes * (m.classes - 1) / 2, kBadShape,
             "{} numbers rho for {} classes", m.pairs, m.classes);
  MICA_CHECK(scope.in(kCoefficients).count() == (m.classes - 1) * m.vectors, kBadShape,
             "{} coefficients for {} classes and {} vectors", scope.in(kCoefficients).count(), m.classes, m.vectors);
  MICA_TRY(m.coefficients, dense_numbers(scope, scope.in(kCoefficients)));
  MICA_TRY(m.rho, dense_numbers(scope, scope.in(kRho)));
  MICA_TRY(m.counts, dense_integers(scope, scope.in(kCounts)));
  int64_t total = 0;
  for (int64_t i = 0; i < m.classes; ++i) {
    MICA_CHECK(m.counts[i] >= 0 && m.counts[i] <= m.vectors - total, kBadValue, "class {} has {} of {} vectors", i,
               m.counts[i], m.vectors);
    total += m.counts[i];
  }
  if (!scope.has(kProbA)) return m;
  MICA_CHECK(scope.in(kProbA).count() == m.pairs && scope.in(kProbB).count() == m.pairs, kBadShape,
             "{} and {} coefficients of probabilities for {} pairs", scope.in(kProbA).count(), scope.in(kProbB).count(),
             m.pairs);
  MICA_TRY(m.prob_a, dense_numbers(scope, scope.in(kProbA)));
  MICA_TRY(m.prob_b, dense_numbers(scope, scope.in(kProbB)));
  return m;
}

// The decision of each pair of classes i < j, above 0 for i, and the votes.
void decide(const Machine& m, const double* kernels, double* pairs, double* votes) {
  std::fill_n(votes, m.classes, 0.0);
  int64_t pair = 0, first_i = 0;
  for (int64_t i = 0; i < m.classes; first_i += m.counts[i++]) {
    int64_t first_j = first_i + m.counts[i];
    for (int64_t j = i + 1; j < m.classes; first_j += m.counts[j++]) {
      double sum = m.rho[pair];
      for (int64_t v = first_i; v < first_i + m.counts[i]; ++v)
        sum += m.coefficients[(j - 1) * m.vectors + v] * kernels[v];
      for (int64_t v = first_j; v < first_j + m.counts[j]; ++v) sum += m.coefficients[i * m.vectors + v] * kernels[v];
      pairs[pair++] = sum;
      votes[sum > 0 ? i : j] += 1;
    }
  }
}

// Minimises pᵀQp over probabilities p, coordinate by coordinate; r[i, j] is how probable i is against j. `q` and `qp`
// are of classes² and classes numbers.
void couple(int64_t classes, const double* r, double* q, double* qp, double* p) {
  for (int64_t t = 0; t < classes; ++t) {
    p[t] = 1 / static_cast<double>(classes);
    double own = 0;
    for (int64_t j = 0; j < classes; ++j) {
      if (j == t) continue;
      own += r[j * classes + t] * r[j * classes + t];
      q[t * classes + j] = -r[j * classes + t] * r[t * classes + j];
    }
    q[t * classes + t] = own;
  }
  const double enough = 0.005 / static_cast<double>(classes);
  for (int64_t round = std::max<int64_t>(100, classes); round > 0; --round) {
    double pqp = 0, worst = 0;
    for (int64_t t = 0; t < classes; ++t) {
      qp[t] = 0;
      for (int64_t j = 0; j < classes; ++j) qp[t] += q[t * classes + j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (int64_t t = 0; t < classes; ++t) worst = std::max(worst, std::fabs(qp[t] - pqp));
    if (!(worst >= enough)) return;
    for (int64_t t = 0; t < classes; ++t) {
      const double own = q[t * classes + t], step = (pqp - qp[t]) / own, whole = 1 + step;
      pqp = (pqp + step * (step * own + 2 * qp[t])) / (whole * whole);
      p[t] += step;
      for (int64_t j = 0; j < classes; ++j) {
        qp[j] = (qp[j] + step * q[t * classes + j]) / whole;
        p[j] /= whole;
      }
    }
  }
}

// Probabilities of the classes from the decisions. `work`: 2 · classes² + classes numbers.
void probabilities(const Machine& m, const double* pairs, double* work, double* p) {
  constexpr double kLeast = 1e-7;  // no pair is certain
  double *r = work, *q = r + m.classes * m.classes, *qp = q + m.classes * m.classes;
  int64_t pair = 0;
  for (int64_t i = 0; i < m.classes; ++i)
    for (int64_t j = i + 1; j < m.classes; ++j, ++pair) {
      const double logit = pairs[pair] * m.prob_a[pair] + m.prob_b[pair];
      const double chance = std::clamp(1 / (1 + std::exp(logit)), kLeast, 1 - kLeast);
      r[i * m.classes + j] = chance;
      r[j * m.classes + i] = 1 - chance;
    }
  couple(m.classes, r, q, qp, p);
}

Status reference(RunScope& scope) {
  MICA_TRY(const Machine m, machine_of(scope));
  const int64_t rows = scope.in(kKernels).dim(0), columns = m.prob_a ? m.classes : m.pairs;
  MICA_TRY_STATUS(allocate_output(scope, 0, {rows, columns}));
  if (scope.wants(1)) MICA_TRY_STATUS(allocate_output(scope, 1, {rows, m.classes}));
  MICA_TRY(const double* kernels, dense_numbers(scope, scope.in(kKernels)));
  MICA_TRY(double* scores, zero_numbers(scope, rows * columns));
  MICA_TRY(double* votes, zero_numbers(scope, rows * m.classes));
  MICA_TRY(double* pairs, zero_numbers(scope, m.pairs));
  MICA_TRY(double* work, zero_numbers(scope, m.prob_a ? (2 * m.classes + 1) * m.classes : 0));
  for (int64_t n = 0; n < rows; ++n) {
    MICA_TRY_STATUS(scope.check_stop());
    decide(m, kernels + n * m.vectors, pairs, votes + n * m.classes);
    if (m.prob_a)
      probabilities(m, pairs, work, scores + n * columns);
    else
      std::copy_n(pairs, m.pairs, scores + n * columns);
  }
  store_dense(scores, scope.out(0));
  if (scope.wants(1)) store_dense(votes, scope.out(1));
  return {};
}

}  // namespace

MICA_OP(svm_scores) = {
    .name = "svm_scores",
    .doc =
        "Decisions between each two classes, or probabilities of the classes, and the votes of the decisions; inputs "
        "kernels [rows, vectors], coefficients, rho, vectors of each class, coefficients of probabilities",
    .inputs = {4, 6},
    .outputs = {1, 2},
    .infer = infer,
    .reference = reference};

}  // namespace mica
