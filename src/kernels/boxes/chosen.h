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

// Strips across the axis along which low corners lie furthest apart keep the chosen boxes that begin in them, and how
// far those reach: a candidate looks at boxes of strips that may reach it alone.
class Chosen {
 public:
  // Of memory, aligned like kAlign, for that many chosen boxes.
  static size_t bytes(int64_t most);
  static constexpr size_t kAlign = 64;

  explicit Chosen(void* memory) : groups_(static_cast<Group*>(memory)) {}
  // The strips lie where these candidates do; there are no chosen boxes yet.
  void spread(std::span<const Box> candidates);
  void clear();
  void add(const Box& box);
  // Whether the intersection over union with a chosen box is above the limit. In f32, as the models that were trained
  // with it saw it. Boxes without area, and those with a NaN, overlap none.
  bool overlap(const Box& box, float limit) const;

 private:
  static constexpr int kStrips = 256, kTogether = 8;
  // Some boxes of a strip; those that are not there yet have no area.
  struct alignas(kAlign) Group {
    float low[2][kTogether], high[2][kTogether], area[kTogether];
    int32_t count, next;
  };
  static bool group_overlaps(const Group& group, const Box& box, float area, float limit);
  int strip_of(float place) const;

  Group* groups_;
  int32_t used_ = 0;
  int axis_ = 0;
  float first_ = 0, scale_ = 0;  // strips lie from here on, so many to a unit
  float reach_[kStrips];         // the largest high corner of a strip's boxes
  int32_t head_[kStrips];        // the newest group of a strip, or -1
  int strips_[kStrips];          // those that have boxes
  int filled_ = 0;
};

}  // namespace mica::boxes
