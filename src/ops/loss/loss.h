// Losses over classes: what the likelihood and the cross-entropy share. Scores are [N,C,...], labels [N,...].
#pragma once
#include "types/dense.h"
#include "types/infer.h"

namespace mica {

enum class LossReduction : uint8_t { kMean, kSum, kNone };
inline constexpr std::string_view kLossReductionNames[] = {"mean", "sum", "none"};
constexpr std::span<const std::string_view> names_of(LossReduction) { return kLossReductionNames; }

struct ClassLoss {
  LossReduction reduction = LossReduction::kMean;
  bool ignores = false;
  int64_t ignore_index = 0;
  template <class V>
  void visit(V&& v) {
    v("reduction", reduction, "none keeps a loss for each label; mean divides by the sum of the weights");
    v("ignores", ignores, "labels that equal ignore_index count nothing");
    v("ignore_index", ignore_index, "the label to ignore");
  }
};

namespace loss {

enum Input { kScores, kLabels, kWeights };

inline Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, kScores));
  MICA_TRY_STATUS(require_rank(scope, kScores, 2, kMaxRank));
  MICA_TRY_STATUS(require_rank(scope, kLabels, 1, kMaxRank));
  MICA_CHECK(is_integer(scope.dtype(kLabels)), kBadType, "labels must be integers, not {}",
             name_of(scope.dtype(kLabels)));
  if (scope.has(kWeights)) MICA_TRY_STATUS(require_same_dtype(scope, kScores, kWeights));
  const bool each = scope.attributes<ClassLoss>().reduction == LossReduction::kNone;
  const Shape &scores = scope.shape(kScores), &labels = scope.shape(kLabels);
  if (scores.known() && labels.known())
    MICA_CHECK(labels.rank == scores.rank - 1, kBadRank, "labels of {} dimensions for scores of {}",
               static_cast<int>(labels.rank), static_cast<int>(scores.rank));
  scope.out(0, scope.dtype(kScores), each ? labels : Shape{});
  if (!each) scope.out(0, scope.dtype(kScores), Shape::of_rank(0));
  scope.out(1, scope.type(kScores));
  return {};
}

struct Sizes {
  int64_t batch, classes, inner;  // labels: batch · inner
};

inline Result<Sizes> sizes_of(const RunScope& scope) {
  const TensorView &x = scope.in(kScores), &labels = scope.in(kLabels);
  MICA_CHECK(x.rank >= 2 && labels.rank == x.rank - 1, kBadShape, "labels of {} dimensions for scores of {}",
             labels.rank, x.rank);
  MICA_CHECK(labels.dim(0) == x.dim(0), kBadShape, "{} labels for {} scores", labels.dim(0), x.dim(0));
  Sizes s{x.dim(0), x.dim(1), 1};
  for (int i = 2; i < x.rank; ++i) {
    MICA_CHECK(labels.dim(i - 1) == x.dim(i), kBadShape, "axis {} of the labels is {}, of the scores {}", i - 1,
               labels.dim(i - 1), x.dim(i));
    s.inner *= x.dim(i);
  }
  MICA_CHECK(!scope.has(kWeights) || scope.in(kWeights).count() == s.classes, kBadShape, "{} weights for {} classes",
             scope.in(kWeights).count(), s.classes);
  return s;
}

// The loss of dense log-likelihoods into output 0.
inline Status reduce(RunScope& scope, const Sizes& s, const double* likelihood) {
  const auto& a = scope.attributes<ClassLoss>();
  const Elements labels(scope.in(kLabels));
  double sum = 0, weights = 0;
  const bool each = a.reduction == LossReduction::kNone;
  MICA_TRY_STATUS(each ? scope.allocate_output(0, scope.in(kLabels).shape()) : scope.allocate_output(0, {}));
  if (!scope.wants(0)) return {};
  const Elements y(scope.out(0));
  for (int64_t i = 0; i < s.batch * s.inner; ++i) {
    const int64_t label = labels.integer(i);
    double weight = 0, value = 0;
    if (!(a.ignores && label == a.ignore_index)) {
      MICA_CHECK(label >= 0 && label < s.classes, kBadValue, "label {} is outside 0 … {}", label, s.classes - 1);
      weight = scope.has(kWeights) ? Elements(scope.in(kWeights)).number(label) : 1;
      value = -likelihood[(i / s.inner * s.classes + label) * s.inner + i % s.inner] * weight;
    }
    if (each) y.set_number(i, value);
    sum += value;
    weights += weight;
  }
  if (!each) y.set_number(0, a.reduction == LossReduction::kMean ? sum / weights : sum);
  return {};
}

}  // namespace loss
}  // namespace mica
