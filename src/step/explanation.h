// What a step's algorithm is and what else there was, for people.
#pragma once
#include <cstddef>

namespace mica {

struct Explanation {
  size_t length = 0;  // of what was written
  // Whether Machine::force could be heeded and is, and whether a measured choice is.
  bool can_force = false, is_forced = false;
  bool is_tuned = false;
};

}  // namespace mica
