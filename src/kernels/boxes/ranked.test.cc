#include "kernels/boxes/ranked.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace mica::boxes {
namespace {

template <class T>
std::vector<int32_t> ranked(const std::vector<T>& scores, const T* limit) {
  std::vector<char> memory(Ranked<T>::bytes(static_cast<int64_t>(scores.size())));
  Ranked<T> list(memory.data());
  list.collect(scores, limit);
  std::vector<int32_t> order;
  for (int64_t k = 0; k < list.size(); ++k) order.push_back(list.at(k));
  return order;
}

// The definition: a stable sort of those that pass.
template <class T>
std::vector<int32_t> sorted(const std::vector<T>& scores, const T* limit) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (limit ? scores[i] > *limit : scores[i] == scores[i]) order.push_back(static_cast<int32_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  return order;
}

template <class T>
void check_all() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity(), kNan = std::numeric_limits<T>::quiet_NaN();
  std::mt19937 random(7);
  for (const size_t size : {0, 1, 15, 16, 17, 64, 65, 1000, 5000})
    for (const int levels : {1, 20, 1 << 20}) {  // few levels: many equal scores
      std::vector<T> scores(size);
      for (T& score : scores) score = static_cast<T>(random() % static_cast<unsigned>(levels)) / static_cast<T>(levels);
      for (size_t i = 3; i < size; i += 37) scores[i] = i % 3 ? kNan : i % 2 ? kInfinity : -kInfinity;
      for (const T limit : {static_cast<T>(-1), static_cast<T>(0.25), static_cast<T>(0.999), kInfinity, kNan})
        EXPECT_EQ(ranked(scores, &limit), sorted(scores, &limit));
      EXPECT_EQ(ranked<T>(scores, nullptr), sorted<T>(scores, nullptr));
    }
}

TEST(Ranked, AreInTheOrderOfAStableSort) {
  check_all<float>();
  check_all<double>();
}

}  // namespace
}  // namespace mica::boxes
