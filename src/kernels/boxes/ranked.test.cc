#include "kernels/boxes/ranked.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace mica::boxes {
namespace {

std::vector<int32_t> ranked(const std::vector<float>& scores, const float* limit) {
  std::vector<char> memory(Ranked::bytes(static_cast<int64_t>(scores.size())));
  Ranked list(memory.data());
  list.collect(scores, limit);
  std::vector<int32_t> order;
  for (int64_t k = 0; k < list.size(); ++k) order.push_back(list.at(k));
  return order;
}

// The definition: a stable sort of those that pass.
std::vector<int32_t> sorted(const std::vector<float>& scores, const float* limit) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (limit ? scores[i] > *limit : scores[i] == scores[i]) order.push_back(static_cast<int32_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  return order;
}

TEST(Ranked, AreInTheOrderOfAStableSort) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  std::mt19937 random(7);
  for (const size_t size : {0, 1, 15, 16, 17, 64, 65, 1000, 5000})
    for (const int levels : {1, 20, 1 << 20}) {  // few levels: many equal scores
      std::vector<float> scores(size);
      for (float& score : scores)
        score = static_cast<float>(random() % static_cast<unsigned>(levels)) / static_cast<float>(levels);
      for (size_t i = 3; i < size; i += 37) scores[i] = i % 3 ? kNan : i % 2 ? kInfinity : -kInfinity;
      for (const float limit : {-1.F, 0.25F, 0.999F, kInfinity, kNan})
        EXPECT_EQ(ranked(scores, &limit), sorted(scores, &limit));
      EXPECT_EQ(ranked(scores, nullptr), sorted(scores, nullptr));
    }
}

}  // namespace
}  // namespace mica::boxes
