// Candidates of a choice by falling score; equal scores by rising index.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mica::boxes {

// Sorts some candidates at a time, twice as many as before: most choices end long before the last one.
class Ranked {
 public:
  struct Candidate {
    float score;
    int32_t index;
    bool operator<(const Candidate& other) const {
      return score != other.score ? score > other.score : index < other.index;
    }
  };
  static size_t bytes(int64_t most) { return sizeof(Candidate) * (static_cast<size_t>(most) + kTogether); }

  explicit Ranked(void* memory) : list_(static_cast<Candidate*>(memory)) {}
  // Those that are above the limit, or, without one, that are numbers; fewer than 2^31.
  void collect(std::span<const float> scores, const float* limit);
  int64_t size() const { return count_; }
  // The index of the k-th best one. Calls go through all k in order, from 0 on.
  int32_t at(int64_t k) {
    if (k == sorted_) sort_more();
    return list_[k].index;
  }

 private:
  static constexpr int64_t kFewest = 64, kTogether = 16;
  template <class Pass>
  void collect_those(std::span<const float> scores, const Pass& passes);
  void sort_more();
  Candidate* list_;
  int64_t count_ = 0, sorted_ = 0;
};

}  // namespace mica::boxes
