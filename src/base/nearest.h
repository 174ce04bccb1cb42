// "Did you mean …": the candidate that is closest to a name which was not found.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

namespace mica {

// Insertions, removals and replacements of single bytes that turn `a` into `b`, upper and lower case being equal
// (Levenshtein's distance, one row of the table at a time). Bytes after the 63rd are not looked at.
size_t edit_distance(std::string_view a, std::string_view b);

// Remembers the closest of the names offered to it. A third of the wanted name may differ, but at least one byte.
class Nearest {
 public:
  explicit Nearest(std::string_view wanted) : wanted_(wanted), limit_(std::max<size_t>(1, wanted.size() / 3)) {}
  void offer(std::string_view name) {
    const size_t distance = edit_distance(wanted_, name);
    if (distance > limit_ || (!best_.empty() && distance >= distance_)) return;
    best_ = name;
    distance_ = distance;
  }
  std::string_view best() const { return best_; }  // empty when none is close

 private:
  std::string_view wanted_, best_;
  size_t limit_, distance_ = 0;
};

}  // namespace mica
