#pragma once
#include "types/op.h"

namespace mica {

// Asks whether to stop once in a while: for loops whose turns are short.
class StopCheck {
 public:
  explicit StopCheck(RunScope& scope) : scope_(scope) {}
  // `operations`: those of the turn that follows, beside the turn itself.
  Status before(int64_t operations) {
    if ((left_ -= operations + 1) >= 0) return {};
    left_ = kEvery;
    return scope_.check_stop();
  }

 private:
  static constexpr int64_t kEvery = 1 << 17;
  RunScope& scope_;
  int64_t left_ = kEvery;
};

}  // namespace mica
