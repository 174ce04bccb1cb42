#include "kernels/boxes/ranked.h"

namespace mica::boxes {

// Where few scores pass, most groups are passed over as a whole; in the others nothing is foreseen.
template <class Pass>
void Ranked::collect_those(std::span<const float> scores, const Pass& passes) {
  const auto size = static_cast<int64_t>(scores.size());
  int64_t count = 0;
  for (int64_t first = 0; first < size; first += kTogether) {
    const float* group = scores.data() + first;
    const int64_t length = std::min(kTogether, size - first);
    int any = length < kTogether;
    if (!any)
      for (int64_t i = 0; i < kTogether; ++i) any |= passes(group[i]);
    if (!any) continue;
    for (int64_t i = 0; i < length; ++i) {
      list_[count] = {group[i], static_cast<int32_t>(first + i)};
      count += passes(group[i]);
    }
  }
  count_ = count;
}

void Ranked::collect(std::span<const float> scores, const float* limit) {
  sorted_ = 0;
  if (limit)
    collect_those(scores, [least = *limit](float score) { return score > least; });
  else
    collect_those(scores, [](float score) { return score == score; });
}

void Ranked::sort_more() {
  const int64_t begin = sorted_;
  sorted_ = std::min(count_, std::max(kFewest, 2 * sorted_));
  if (sorted_ < count_) std::nth_element(list_ + begin, list_ + sorted_, list_ + count_);
  std::sort(list_ + begin, list_ + sorted_);
}

}  // namespace mica::boxes
