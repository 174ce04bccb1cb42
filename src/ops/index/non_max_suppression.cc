#include "ops/index/non_max_suppression.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/boxes/chosen.h"
#include "kernels/boxes/ranked.h"
#include "types/dense.h"
#include "types/operand.h"
#include "types/stop.h"

namespace mica {
namespace {

// Inputs: boxes [batch, boxes, 4], scores [batch, classes, boxes], most boxes per class, overlap limit, score limit.
Status infer(InferScope& scope) {
  for (int i = 0; i < 2; ++i) MICA_TRY_STATUS(require_float(scope, i));
  MICA_TRY_STATUS(require_rank(scope, 0, 3, 3));
  MICA_TRY_STATUS(require_rank(scope, 1, 3, 3));
  scope.out(0, DType::kI64, Shape{scope.dims().fresh("selected"), 3});
  return {};
}

struct Limits {
  int64_t most = 0;
  float overlap = 0;
  double score = 0;
  bool has_score = false;
};

Result<Limits> read_limits(const RunScope& scope) {
  Limits limits;
  if (scope.has(2)) {
    MICA_TRY(limits.most, read_int(scope.in(2), "max_output_boxes_per_class"));
  }
  if (scope.has(3)) {
    MICA_TRY(const double overlap, read_number(scope.in(3), "iou_threshold"));
    MICA_CHECK(overlap >= 0 && overlap <= 1, kBadValue, "iou_threshold {} is outside [0, 1]", overlap);
    limits.overlap = static_cast<float>(overlap);
  }
  if (scope.has(4)) {
    MICA_TRY(limits.score, read_number(scope.in(4), "score_threshold"));
  }
  limits.has_score = scope.has(4);
  return limits;
}

// The numbers of an operand where they lie, or rounded to f32.
Result<const float*> floats_of(RunScope& scope, const TensorView& view) {
  if (view.dtype == DType::kF32 && view.contiguous()) return view.as<float>();
  MICA_TRY(const double* numbers, dense_numbers(scope, view));
  const auto count = static_cast<size_t>(view.count());
  MICA_TRY(void* memory, scope.allocate(count * sizeof(float)));
  auto* floats = static_cast<float*>(memory);
  for (size_t i = 0; i < count; ++i) floats[i] = static_cast<float>(numbers[i]);
  return floats;
}

// A score is above this where it is above the given limit.
float stored_limit(double limit) {
  const auto stored = static_cast<float>(limit);
  return static_cast<double>(stored) > limit ? std::nextafter(stored, -std::numeric_limits<float>::infinity()) : stored;
}

struct Sizes {
  int64_t batches, classes, boxes;
};

// Greedy choice for one class after the other.
Status select(RunScope& scope, const Sizes& sizes, const float* corners, const float* scores,
              Vector<int64_t>& selected) {
  MICA_TRY(const Limits limits, read_limits(scope));
  const bool center = scope.attributes<NonMaxSuppression>().center;
  const auto size = static_cast<size_t>(sizes.boxes);
  MICA_TRY(void* ranks, scope.allocate(boxes::Ranked::bytes(sizes.boxes)));
  MICA_TRY(void* groups, scope.allocate(boxes::Chosen::bytes(sizes.boxes)));
  MICA_TRY(void* list, scope.allocate(size * sizeof(boxes::Box)));
  boxes::Ranked ranked(ranks);
  boxes::Chosen chosen(groups, sizes.boxes);
  auto* box = static_cast<boxes::Box*>(list);
  const float limit = stored_limit(limits.score);
  StopCheck stop(scope);
  for (int64_t b = 0; b < sizes.batches; ++b) {
    boxes::load_boxes(corners + b * sizes.boxes * 4, sizes.boxes, center, box);
    chosen.spread({box, size});
    for (int64_t c = 0; c < sizes.classes; ++c, scores += sizes.boxes) {
      MICA_TRY_STATUS(stop.before(sizes.boxes));
      ranked.collect({scores, size}, limits.has_score ? &limit : nullptr);
      chosen.clear();
      for (int64_t k = 0, count = 0; k < ranked.size() && count < limits.most; ++k) {
        MICA_TRY_STATUS(stop.before(count));
        const int32_t i = ranked.at(k);
        if (chosen.overlap(box[i], limits.overlap)) continue;
        chosen.add(box[i]);
        ++count;
        const int64_t row[] = {b, c, i};
        MICA_TRY_STATUS(selected.append(row));
      }
    }
  }
  return {};
}

Status reference(RunScope& scope) {
  const TensorView &boxes = scope.in(0), &scores = scope.in(1);
  MICA_CHECK(boxes.rank == 3 && boxes.dim(2) == 4 && scores.rank == 3, kBadShape,
             "non_max_suppression needs boxes [batch, boxes, 4] and scores [batch, classes, boxes]");
  const Sizes sizes{boxes.dim(0), scores.dim(1), boxes.dim(1)};
  MICA_CHECK(scores.dim(0) == sizes.batches && scores.dim(2) == sizes.boxes, kBadShape,
             "boxes of [{}, {}] with scores of [{}, {}, {}]", boxes.dim(0), boxes.dim(1), scores.dim(0), scores.dim(1),
             scores.dim(2));
  MICA_CHECK(sizes.boxes <= std::numeric_limits<int32_t>::max(), kLimit, "{} boxes are more than 2^31 - 1",
             sizes.boxes);
  MICA_TRY(const float* corners, floats_of(scope, boxes));
  MICA_TRY(const float* ranks, floats_of(scope, scores));
  Vector<int64_t> selected;
  MICA_TRY_STATUS(select(scope, sizes, corners, ranks, selected));
  const int64_t dims[] = {static_cast<int64_t>(selected.size() / 3), 3};
  MICA_TRY_STATUS(scope.allocate_output(0, dims));
  std::copy(selected.begin(), selected.end(), scope.out(0).as<int64_t>());
  return {};
}

}  // namespace

MICA_OP(non_max_suppression) = {
    .name = "non_max_suppression",
    .doc = "Per class, boxes by falling score that do not overlap a better one: [selected, (batch, class, box)]",
    .inputs = {2, 5},
    .attributes = attr_class<NonMaxSuppression>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
