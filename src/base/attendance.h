// How many threads of a pool take part in its regions.
//
// A worker that shares its processor with another process is taken off it in the middle of a chunk, and everybody waits
// for milliseconds until it comes back. Where this costs more than a worker gains, the pool goes on with one thread
// less and tries all of them again after a pause, which doubles while nothing has changed.
#pragma once
#include <atomic>
#include <cstdint>

namespace mica {

// `admitted` may be read by any thread; everything else is called by one thread at a time.
class Attendance {
 public:
  explicit Attendance(int threads) : threads_(threads), admitted_(threads) {}

  // Threads that take part, those with an index below this; at least 1.
  int admitted() const { return admitted_.load(std::memory_order_relaxed); }
  bool complete() const { return admitted() == threads_; }

  // A region waited `lost_ns` for workers that had chunks and no processor. `now_ns`: of the clock; `working_ns`: time
  // spent in bursts so far. Returns whether one thread less takes part from now on.
  bool lost(int64_t lost_ns, int64_t now_ns, int64_t working_ns);
  // Whether it is time to try all threads again.
  bool due(int64_t now_ns) const { return now_ns >= back_at_; }
  // All take part.
  void admit_all(int64_t working_ns);

 private:
  int threads_;
  std::atomic<int> admitted_;
  int64_t since_ns_ = 0, lost_ns_ = 0;  // the window: where it began in working time, and what was lost in it
  int64_t pause_ns_ = 0, back_at_ = 0;
};

}  // namespace mica
