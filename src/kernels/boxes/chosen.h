// Boxes that greedy non-maximum suppression has chosen, found again by where they lie.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace mica::boxes {

// Corners [y, x]; low is at most high on both axes, unless a coordinate is NaN.
struct Box {
  float low[2], high[2];
};

// From four numbers each: two opposite corners [y, x, y, x], or [x centre, y centre, width, height].
void load_boxes(const float* numbers, int64_t count, bool center, Box* to);

// Strips across the axis along which low corners lie furthest apart keep the chosen boxes that begin in them, and how
// far those reach: a candidate looks at boxes of strips that may reach it alone. The more boxes, the narrower strips
// are, so that groups of boxes are full.
class Chosen {
 public:
  // Of memory, aligned like kAlign, for that many chosen boxes.
  static size_t bytes(int64_t most);
  static constexpr size_t kAlign = 64;

  Chosen(void* memory, int64_t most)
      : groups_(static_cast<Group*>(memory)), boxes_(reinterpret_cast<Box*>(groups_ + most_groups(most))) {}
  // The strips lie where these candidates do; there are no chosen boxes yet.
  void spread(std::span<const Box> candidates);
  void clear();
  void add(const Box& box);
  // Whether the intersection over union with a chosen box is above the limit. In f32, as the models that were trained
  // with it saw it. Boxes without area, and those with a NaN, overlap none.
  bool overlap(const Box& box, float limit) const;

 private:
  static constexpr int kTogether = 8, kStrips = 256;
  static constexpr int kWide = 8, kNarrower = 3;  // at first 2^kWide strips are one, later 2^kNarrower times fewer
  static constexpr int32_t kFew = 64;             // boxes, for each strip that there is, until they become narrower
  // Some boxes of a strip; those that are not there yet have no area.
  struct alignas(kAlign) Group {
    float low[2][kTogether], high[2][kTogether], area[kTogether];
    int32_t count, next;
  };
  // Each strip has one that is not full.
  static size_t most_groups(int64_t most) { return static_cast<size_t>(most) / kTogether + kStrips; }
  void forget_strips();
  void insert(const Box& box, float area);
  static bool group_overlaps(const Group& group, const Box& box, float area, float limit);
  int strip_of(float place) const;

  Group* groups_;
  Box* boxes_;
  int32_t used_ = 0, count_ = 0;  // groups, boxes
  int wide_ = kWide;              // 2^wide_ strips are one
  int axis_ = 0;
  float first_ = 0, scale_ = 0;  // strips lie from here on, so many to a unit
  float reach_[kStrips];         // the largest high corner of a strip's boxes
  int32_t head_[kStrips];        // the newest group of a strip, or -1
  int strips_[kStrips];          // those that have boxes
  int filled_ = 0;
};

}  // namespace mica::boxes
