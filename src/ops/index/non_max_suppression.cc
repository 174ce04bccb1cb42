#include "ops/index/non_max_suppression.h"

#include <algorithm>

#include "kernels/boxes/chosen.h"
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

using boxes::Box;

Box load_box(const TensorView& boxes, int64_t batch, int64_t i, bool center) {
  float v[4];
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t at[] = {batch, i, k};
    v[k] = static_cast<float>(load_number(boxes.dtype, element_at(boxes, at)));
  }
  if (center) return {{v[1] - v[3] / 2, v[0] - v[2] / 2}, {v[1] + v[3] / 2, v[0] + v[2] / 2}};
  return {{std::min(v[0], v[2]), std::min(v[1], v[3])}, {std::max(v[0], v[2]), std::max(v[1], v[3])}};
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

struct Scored {
  const Box* boxes;
  const double* scores;
  int64_t count;
};
struct Candidate {
  double score;
  int64_t box;
  bool operator<(const Candidate& other) const { return score != other.score ? score > other.score : box < other.box; }
};

// What a class is chosen with and into: each has room for all boxes.
struct Choice {
  Candidate* list;
  int64_t* order;  // of the chosen ones
  boxes::Chosen& chosen;
};

// Greedy choice for one class; returns how many. The best candidates are sorted some at a time: most choices end long
// before the last.
Result<int64_t> choose(const Limits& limits, const Scored& all, const Choice& choice, StopCheck& stop) {
  Candidate* list = choice.list;
  constexpr int64_t kFewest = 64;
  int64_t candidates = 0, count = 0, sorted = 0;
  choice.chosen.clear();
  for (int64_t i = 0; i < all.count; ++i)
    if (all.scores[i] == all.scores[i] && (!limits.has_score || all.scores[i] > limits.score))
      list[candidates++] = {all.scores[i], i};
  for (int64_t c = 0; c < candidates && count < limits.most; ++c) {
    if (c == sorted) {
      sorted = std::min(candidates, std::max(kFewest, 2 * sorted));
      if (sorted < candidates) std::nth_element(list + c, list + sorted, list + candidates);
      std::sort(list + c, list + sorted);
    }
    MICA_TRY_STATUS(stop.before(count));
    const Box& box = all.boxes[list[c].box];
    if (choice.chosen.overlap(box, limits.overlap)) continue;
    choice.chosen.add(box);
    choice.order[count++] = list[c].box;
  }
  return count;
}

Status reference(RunScope& scope) {
  const TensorView &boxes = scope.in(0), &scores = scope.in(1);
  MICA_CHECK(boxes.rank == 3 && boxes.dim(2) == 4 && scores.rank == 3, kBadShape,
             "non_max_suppression needs boxes [batch, boxes, 4] and scores [batch, classes, boxes]");
  MICA_CHECK(scores.dim(0) == boxes.dim(0) && scores.dim(2) == boxes.dim(1), kBadShape,
             "boxes of [{}, {}] with scores of [{}, {}, {}]", boxes.dim(0), boxes.dim(1), scores.dim(0), scores.dim(1),
             scores.dim(2));
  MICA_TRY(const Limits limits, read_limits(scope));
  const int64_t batches = boxes.dim(0), classes = scores.dim(1), count = boxes.dim(1);
  MICA_TRY(const double* all, dense_numbers(scope, scores));
  const auto size = static_cast<size_t>(count);
  MICA_TRY(void* memory, scope.allocate(size * (sizeof(Candidate) + sizeof(int64_t) + sizeof(Box))));
  MICA_TRY(void* groups, scope.allocate(boxes::Chosen::bytes(count)));
  auto* candidates = static_cast<Candidate*>(memory);
  auto* order = reinterpret_cast<int64_t*>(candidates + count);
  auto* list = reinterpret_cast<Box*>(order + count);
  boxes::Chosen chosen_boxes(groups);
  const Choice choice{candidates, order, chosen_boxes};
  Vector<int64_t> selected;
  StopCheck stop(scope);
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t i = 0; i < count; ++i) list[i] = load_box(boxes, b, i, scope.attributes<NonMaxSuppression>().center);
    chosen_boxes.spread({list, size});
    for (int64_t c = 0; c < classes; ++c) {
      MICA_TRY_STATUS(stop.before(count));
      const Scored scored{list, all + (b * classes + c) * count, count};
      MICA_TRY(const int64_t chosen, choose(limits, scored, choice, stop));
      for (int64_t k = 0; k < chosen; ++k) {
        const int64_t row[] = {b, c, order[k]};
        MICA_TRY_STATUS(selected.append(row));
      }
    }
  }
  const int64_t dims[] = {static_cast<int64_t>(selected.size() / 3), 3};
  MICA_TRY_STATUS(scope.allocate_output(0, dims));
  for (size_t i = 0; i < selected.size(); ++i) Elements(scope.out(0)).set_integer(static_cast<int64_t>(i), selected[i]);
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
