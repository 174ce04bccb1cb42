#include "kernels/boxes/chosen.h"

#include <algorithm>
#include <limits>

namespace mica::boxes {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float area_of(const Box& box) { return (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]); }

}  // namespace

void load_boxes(const float* numbers, int64_t count, bool center, Box* to) {
  for (int64_t i = 0; i < count; ++i) {
    const float* v = numbers + 4 * i;
    if (center)
      to[i] = {{v[1] - v[3] / 2, v[0] - v[2] / 2}, {v[1] + v[3] / 2, v[0] + v[2] / 2}};
    else
      to[i] = {{std::min(v[0], v[2]), std::min(v[1], v[3])}, {std::max(v[0], v[2]), std::max(v[1], v[3])}};
  }
}

size_t Chosen::bytes(int64_t most) {
  return sizeof(Group) * most_groups(most) + sizeof(Box) * static_cast<size_t>(most);
}

void Chosen::spread(std::span<const Box> candidates) {
  float least[2] = {kInfinity, kInfinity}, most[2] = {-kInfinity, -kInfinity};
  for (const Box& box : candidates)
    for (int a = 0; a < 2; ++a) {
      least[a] = std::min(least[a], box.low[a]);
      most[a] = std::max(most[a], box.low[a]);
    }
  axis_ = most[1] - least[1] > most[0] - least[0] ? 1 : 0;
  first_ = least[axis_];
  const float extent = most[axis_] - first_;
  scale_ = extent > 0 && extent < kInfinity ? kStrips / extent : 0;
  std::fill_n(reach_, kStrips, -kInfinity);
  std::fill_n(head_, kStrips, -1);
  filled_ = 0;
  clear();
}

void Chosen::forget_strips() {
  for (int i = 0; i < filled_; ++i) {
    reach_[strips_[i]] = -kInfinity;
    head_[strips_[i]] = -1;
  }
  filled_ = used_ = 0;
}

void Chosen::clear() {
  forget_strips();
  count_ = 0;
  wide_ = kWide;
}

// Never falls where places rise; what is no number is in the first one.
int Chosen::strip_of(float place) const {
  const float at = (place - first_) * scale_;
  return at >= 1 ? static_cast<int>(std::min<float>(at, kStrips - 1)) >> wide_ : 0;
}

void Chosen::add(const Box& box) {
  const float area = area_of(box);
  if (!(area > 0)) return;
  boxes_[count_++] = box;
  insert(box, area);
  if (wide_ == 0 || count_ < kFew << (kWide - wide_)) return;
  forget_strips();
  wide_ = std::max(wide_ - kNarrower, 0);
  for (int32_t i = 0; i < count_; ++i) insert(boxes_[i], area_of(boxes_[i]));
}

void Chosen::insert(const Box& box, float area) {
  const int strip = strip_of(box.low[axis_]);
  reach_[strip] = std::max(reach_[strip], box.high[axis_]);
  if (head_[strip] < 0) strips_[filled_++] = strip;
  if (head_[strip] < 0 || groups_[head_[strip]].count == kTogether) {
    groups_[used_] = Group{.low = {}, .high = {}, .area = {}, .count = 0, .next = head_[strip]};
    head_[strip] = used_++;
  }
  Group& group = groups_[head_[strip]];
  const int32_t i = group.count++;
  for (int a = 0; a < 2; ++a) {
    group.low[a][i] = box.low[a];
    group.high[a][i] = box.high[a];
  }
  group.area[i] = area;
}

// Without branches, which nothing foresees.
bool Chosen::group_overlaps(const Group& group, const Box& box, float area, float limit) {
  unsigned any = 0;
  for (int i = 0; i < kTogether; ++i) {
    const float height = std::min(box.high[0], group.high[0][i]) - std::max(box.low[0], group.low[0][i]);
    const float width = std::min(box.high[1], group.high[1][i]) - std::max(box.low[1], group.low[1][i]);
    const float inner = height * width, outer = area + group.area[i] - inner;
    any |= unsigned{height > 0} & unsigned{width > 0} & unsigned{group.area[i] > 0} & unsigned{outer > 0} &
           unsigned{inner / outer > limit};
  }
  return any != 0;
}

bool Chosen::overlap(const Box& box, float limit) const {
  const float area = area_of(box);
  if (!(area > 0)) return false;
  const float low = box.low[axis_];
  const int last = strip_of(box.high[axis_]);
  for (int i = 0; i < filled_; ++i) {
    const int strip = strips_[i];
    if (strip > last || !(reach_[strip] > low)) continue;
    for (int32_t g = head_[strip]; g >= 0; g = groups_[g].next)
      if (group_overlaps(groups_[g], box, area, limit)) return true;
  }
  return false;
}

}  // namespace mica::boxes
