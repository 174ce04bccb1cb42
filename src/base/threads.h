// The pool of worker threads, and splitting work over it.
//
// A *region* is one call of `run`. Each thread, the caller among them, has an equal share of the tasks 0 … tasks-1, the
// same part in every region, and then takes over what others have not come to; the call returns when all are done. A
// worker that the system schedules late finds nothing and delays nobody. Behind a region workers spin for at most
// `spin_ns`, so that the next one finds them awake; then they are parked and use no processor time. The beginning of a
// *burst* (one inference) wakes them all. A worker that is kept from its processor while it holds tasks stays away for
// a while (`attendance.h`). A result must not depend on who ran a task: split over outputs.
#pragma once
#include <cstdint>

#include "base/result.h"

namespace mica {

// Runs the tasks [begin, end). `worker` < concurrency() is unique among the threads that are in the same region, so
// that it can index scratch memory of the caller of `run`.
using TaskFn = void (*)(const void* context, int64_t begin, int64_t end, int worker);

// A caller's own threads. `parallel` calls fn(arg, i) once for every i in [0, n), on any threads, n <= concurrency, and
// returns when all calls have returned. It may be called from several threads at a time.
struct Executor {
  void* self = nullptr;
  int concurrency = 0;
  void (*parallel)(void* self, void (*fn)(void* arg, int index), void* arg, int n) = nullptr;
};

struct ThreadsOptions {
  int threads = 0;                     // with the caller; 0: what the machine grants this process (`default_threads`)
  const Executor* executor = nullptr;  // instead of own threads; `threads` above 0 then only lowers its concurrency
  int64_t spin_ns = 50000;             // covers what is between regions, and between runs that follow each other
};

// What the end of a burst needs of its beginning.
struct BurstStart {
  int64_t began_ns = 0, asleep_ns = 0;
  int64_t cpu_ns = -1;  // of the calling thread; -1: nobody looks
};

// Thread-safe. When a pool is busy with a region of another thread, `run` does its tasks on the calling thread alone:
// both make progress, and neither waits for the other. The same happens to a `run` inside a task.
class Threads {
 public:
  static constexpr int kMaxThreads = 1024;

  // kSystem when a thread cannot be created, kUsage for a count out of range or an executor without function.
  static Result<Threads> create(const ThreadsOptions& options = {});
  Threads(Threads&& other) noexcept : pool_(other.pool_) { other.pool_ = nullptr; }
  Threads& operator=(Threads&& other) noexcept;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads();  // no region may be running

  // Number of threads with the caller; at least 1.
  int concurrency() const;

  // A task is worth handing over from a few microseconds on; one alone runs on the caller without touching the workers,
  // as do 2^31 and more. Workers take over the caller's floating-point mode for the region. Neither allocates nor
  // fails.
  void run(TaskFn fn, const void* context, int64_t tasks);

  // body(begin, end, worker)
  template <class Body>
  void run(int64_t tasks, const Body& body) {
    run([](const void* context, int64_t begin, int64_t end,
           int worker) { (*static_cast<const Body*>(context))(begin, end, worker); },
        &body, tasks);
  }

  // Wakes the workers. What is between it and the matching `end_burst`, on the same thread, is working time. Bursts of
  // several threads add up.
  BurstStart begin_burst();
  void end_burst(const BurstStart& start);

 private:
  struct Pool;
  explicit Threads(Pool* pool) : pool_(pool) {}
  Pool* pool_;
};

// A burst as a scope; without threads, nothing.
class Burst {
 public:
  explicit Burst(Threads* threads) : threads_(threads) {
    if (threads_) start_ = threads_->begin_burst();
  }
  ~Burst() {
    if (threads_) threads_->end_burst(start_);
  }
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

 private:
  Threads* threads_;
  BurstStart start_;
};

}  // namespace mica
