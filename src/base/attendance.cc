#include "base/attendance.h"

#include <algorithm>

namespace mica {
namespace {

constexpr int64_t kMillisecond = 1000000;
// Less is not worth a change: a page that is read, an interrupt.
constexpr int64_t kLeastLost = kMillisecond / 2;
// Two threads that lose half of the time are no faster than one; a third of what threads gain goes elsewhere.
constexpr int64_t kMostShare = 4;
// Losses are forgotten by halves after so much work; who comes through it has a processor.
constexpr int64_t kWindow = 100 * kMillisecond;
// The system's time slices have 3 to 6 ms. A trial of all threads costs about one slice and gains about as much.
constexpr int64_t kFirstPause = 4 * kMillisecond, kLongestPause = 256 * kMillisecond;

}  // namespace

bool Attendance::lost(int64_t lost_ns, int64_t now_ns, int64_t working_ns) {
  lost_ns_ += lost_ns;
  const int64_t worked = working_ns - since_ns_;
  const bool too_much = lost_ns_ >= kLeastLost && lost_ns_ > worked / kMostShare && admitted() > 1;
  if (worked > kWindow) {
    pause_ns_ = 0;
    since_ns_ += worked / 2;
    lost_ns_ /= 2;
  }
  if (!too_much) return false;
  pause_ns_ = std::clamp(2 * pause_ns_, kFirstPause, kLongestPause);
  back_at_ = now_ns + pause_ns_;
  since_ns_ = working_ns;
  lost_ns_ = 0;
  admitted_.store(admitted() - 1, std::memory_order_relaxed);
  return true;
}

void Attendance::admit_all(int64_t working_ns) {
  since_ns_ = working_ns;
  lost_ns_ = 0;
  admitted_.store(threads_, std::memory_order_relaxed);
}

}  // namespace mica
