#include "kernels/boxes/chosen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace mica::boxes {
namespace {

// The definition: intersection over union with each box by itself.
bool overlaps(const Box& a, const Box& b, float limit) {
  const float height = std::min(a.high[0], b.high[0]) - std::max(a.low[0], b.low[0]);
  const float width = std::min(a.high[1], b.high[1]) - std::max(a.low[1], b.low[1]);
  const float area_a = (a.high[0] - a.low[0]) * (a.high[1] - a.low[1]);
  const float area_b = (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]);
  const float inner = height * width, outer = area_a + area_b - inner;
  return height > 0 && width > 0 && area_a > 0 && area_b > 0 && outer > 0 && inner / outer > limit;
}

// Chooses greedily both ways; returns how many were chosen, or -1 where the ways differ.
int chosen_both_ways(const std::vector<Box>& boxes, float limit) {
  std::vector<char> memory(Chosen::bytes(static_cast<int64_t>(boxes.size())) + Chosen::kAlign);
  void* begin = memory.data();
  size_t left = memory.size();
  Chosen chosen(std::align(Chosen::kAlign, left - Chosen::kAlign, begin, left), static_cast<int64_t>(boxes.size()));
  chosen.spread(boxes);
  int count = 0;
  for (int turn = 0; turn < 2; ++turn) {  // the second one behind `clear`
    std::vector<Box> plain;
    for (const Box& box : boxes) {
      const bool wanted = std::any_of(plain.begin(), plain.end(), [&](auto& b) { return overlaps(box, b, limit); });
      if (chosen.overlap(box, limit) != wanted) return -1;
      if (wanted) continue;
      chosen.add(box);
      plain.push_back(box);
    }
    count = static_cast<int>(plain.size());
    chosen.clear();
  }
  return count;
}

struct Field {
  float extent[2], size;
  int count;
};
std::vector<Box> boxes_in(const Field& field, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(0, 1);
  std::vector<Box> boxes;
  for (int i = 0; i < field.count; ++i) {
    Box box{};
    for (int a = 0; a < 2; ++a) {
      box.low[a] = unit(random) * field.extent[a];
      box.high[a] = box.low[a] + unit(random) * field.size * (i % 50 ? 1 : 20);
    }
    boxes.push_back(box);
  }
  return boxes;
}

TEST(Chosen, AreThoseOfTheDefinition) {
  const Field fields[] = {
      {{100, 100}, 20, 700}, {{0, 1000}, 9, 700},          {{5000, 3}, 4, 900}, {{90000, 90000}, 9, 5000},
      {{0, 0}, 3, 50},       {{1e-3F, 1e-3F}, 1e-3F, 300}, {{1, 1}, 1, 1}};
  unsigned seed = 0;
  for (const Field& field : fields)
    for (const float limit : {0.F, 0.3F, 0.5F, 1.F}) {
      const int count = chosen_both_ways(boxes_in(field, seed++), limit);
      EXPECT_GT(count, 0);
      EXPECT_LE(count, field.count);
    }
}

TEST(Chosen, StrangeCoordinates) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float strange[] = {kNan, kInfinity, -kInfinity, kLargest, -kLargest, 0, -0.F, 1e-40F, 1, 2};
  std::mt19937 random(1);
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<Box> boxes = boxes_in({{10, 10}, 4, 40}, static_cast<unsigned>(turn));
    for (size_t i = 0; i < boxes.size(); i += 3) {
      float& low = boxes[i].low[i % 2];
      float& high = boxes[i].high[i % 2];
      low = strange[random() % std::size(strange)];
      high = strange[random() % std::size(strange)];
      if (high < low) std::swap(low, high);
    }
    EXPECT_GT(chosen_both_ways(boxes, 0.4F), 0);
  }
}

TEST(Chosen, NoneAtFirst) { EXPECT_EQ(chosen_both_ways({}, 0.5F), 0); }

}  // namespace
}  // namespace mica::boxes
