#include "base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "base/attendance.h"
#include "base/fp_mode.h"
#include "base/os.h"

namespace mica {
namespace {

constexpr int64_t kParts = 2;              // of what is left are taken at a time: evens out threads of unequal speed
constexpr int kPollsPerClock = 32;         // polls between looks at the clock, about 1 µs
constexpr int64_t kCallerSpinNs = 50000;   // the longest the caller polls for what another thread holds
constexpr int64_t kPromptNs = 10000;       // the part of it after which the caller wants to know why
constexpr int64_t kRestNs = 1000000;       // idle processors that are awake so long go to sleep
constexpr int64_t kMoveEveryNs = 1000000;  // moving a thread costs a few microseconds
constexpr int kMostMoved = 4;              // at a time
constexpr int64_t kLookEveryNs = 2000000;  // asking for a thread's processor time costs up to a microsecond

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Polls until `ready` or `limit_ns` passed; returns ready's last answer. It does not yield: on a loaded machine a
// thread that yields waits for a whole time slice of the others, while one that sleeps is scheduled at once when it is
// woken.
template <class Ready>
bool poll(const Ready& ready, int64_t limit_ns) {
  const int64_t start = now_ns();
  for (;;) {
    for (int i = 0; i < kPollsPerClock; ++i) {
      if (ready()) return true;
      relax();
    }
    if (now_ns() - start >= limit_ns) return ready();
  }
}

// Processor time of a thread; 0 where the system does not tell.
int64_t cpu_ns_of(pthread_t thread) {
  clockid_t clock;
  timespec t{};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// The tasks [begin, end).
struct Span {
  int64_t begin = 0, end = 0;
};

// Tasks that wait for a thread, in one word. Their owner takes them from the front, others from the back, so that what
// others take is what the owner would come to last.
class alignas(kCacheLine) Share {
 public:
  static constexpr int64_t kMostTasks = (int64_t{1} << 31) - 1;

  void fill(Span tasks) { word_.store(tasks.begin << 32 | tasks.end); }
  bool empty() const { return none(span_of(word_.load())); }

  // A part of what is left, so that others can still help with the rest; an empty span when nothing is.
  Span take(bool front) {
    int64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const Span left = span_of(word);
      if (none(left)) return {};
      const int64_t taken = std::max<int64_t>((left.end - left.begin) / kParts, 1);
      const int64_t rest = front ? word + (taken << 32) : word - taken;
      if (word_.compare_exchange_weak(word, rest, std::memory_order_acquire, std::memory_order_relaxed))
        return front ? Span{left.begin, left.begin + taken} : Span{left.end - taken, left.end};
    }
  }

 private:
  static Span span_of(int64_t word) { return {word >> 32, word & 0xffffffff}; }
  static bool none(Span span) { return span.begin >= span.end; }

  std::atomic<int64_t> word_{0};
};

// One region. Each thread has a share of adjacent tasks, the same fraction in every region: the rows that it wrote in
// one stage it reads in the next, from its own caches. Who took tasks and has not counted them off `unfinished` owns
// the region, and only owners read its other fields: it cannot end meanwhile, so they stay as they are, whatever a
// latecomer saw before. `unfinished` reaching 0 ends it.
struct alignas(kCacheLine) Region {
  static constexpr int kMostShares = 64;  // more threads than these have some in common

  TaskFn fn = nullptr;
  const void* context = nullptr;
  uint64_t fp_mode = 0;
  int shares = 1;  // never changes while threads look for work
  alignas(kCacheLine) std::atomic<int64_t> unfinished{0};
  Share waiting[kMostShares];

  explicit Region(int threads) : shares(std::min(threads, kMostShares)) {}

  Share& share_of(int worker) { return waiting[worker % shares]; }

  // Does tasks until none is left and returns their number; `owns` is called before the first.
  template <class Owns>
  int64_t help(int worker, const Owns& owns) {
    int64_t done = 0;
    for (int i = 0; i < shares; ++i) {
      Share& share = share_of(worker + i);
      for (Span span = share.take(i == 0); span.begin < span.end; span = share.take(i == 0)) {
        if (done == 0) owns();
        const FpModeScope mode(fp_mode);
        fn(context, span.begin, span.end, worker);
        done += span.end - span.begin;
      }
    }
    return done;
  }

  // Before others can see it: everything but the shares.
  void describe(TaskFn f, const void* c, int64_t tasks) {
    fn = f;
    context = c;
    fp_mode = mica::fp_mode();
    unfinished.store(tasks, std::memory_order_relaxed);
  }

  // Sequentially consistent with `park`. Where shares differ, the first are the larger ones: the caller is here
  // already.
  void publish(int64_t tasks, int threads) {
    const int64_t filled = std::min(threads, shares);
    const auto bound = [&](int64_t i) { return (tasks * i + filled - 1) / filled; };
    for (int64_t i = filled - 1; i >= 0; --i) waiting[i].fill({bound(i), bound(i + 1)});
  }
};

}  // namespace

struct Threads::Pool {
  struct alignas(kCacheLine) Worker {
    Pool* pool = nullptr;
    int index = 0;
    pthread_t thread{};
    std::atomic<bool> holds{false};  // tasks
    bool here = false;               // awake: neither parked nor on the way from there; under the mutex
    int64_t cpu_ns = -1;             // what it had used when the caller began to wait for it; -1: it had no task
  };

  explicit Pool(int threads) : region(threads), concurrency(threads), attendance(threads) {}

  Region region;
  alignas(kCacheLine) std::atomic<bool> busy{false};   // a region has this pool
  std::atomic<int> bursts{0}, sleepers{0};             // sleepers: workers that are not there yet, or parked
  std::atomic<int64_t> burst_began{0}, working_ns{0};  // of the latest burst; in all that ended
  std::atomic<int64_t> asleep_ns{0}, looked_at{0};  // callers that waited for workers; when a burst was last looked at
  std::atomic<int64_t> ended_at{0};                 // the latest burst
  std::atomic<int64_t> moved_at{0};                 // when workers were last moved
  std::atomic<bool> stop{false}, caller_sleeps{false};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER, admission = PTHREAD_COND_INITIALIZER;
  uint64_t wakes = 0;          // under the mutex, as is the next
  int callers_processor = -1;  // when it last called sleepers
  Executor executor;
  int concurrency, started = 0;
  Attendance attendance;  // changed between regions by the thread that is `busy`
  int64_t spin_ns = 0;
  Worker* workers = nullptr;

  Status start();
  void run_region(TaskFn fn, const void* context, int64_t tasks);
  void run_on_executor(TaskFn fn, const void* context, int64_t tasks) const;
  void await_region();
  void ask_for_workers();
  int64_t kept_from_work(int64_t waited_ns) const;
  int64_t worked_ns(int64_t now) const;
  void look_at_burst(const BurstStart& start, int64_t now);
  void try_all_again();
  void wake_sleepers();
  void help(Worker& worker);
  void move_the_late();
  void arrive(Worker& worker);
  void park(Worker& worker);
  void sit_out(const Worker& worker);
  void serve(Worker& worker);
  static void* enter(void* worker);
  static void destroy(Pool* pool);
};

void Threads::Pool::help(Worker& worker) {
  const int64_t mine = region.help(worker.index, [&] { worker.holds.store(true, std::memory_order_relaxed); });
  if (mine == 0) return;
  worker.holds.store(false, std::memory_order_relaxed);
  // Finishing gives up the right to read the region; sequential consistency pairs with `await_region`.
  if (region.unfinished.fetch_sub(mine) == mine && caller_sleeps.load()) {
    Lock lock(mutex);
    pthread_cond_signal(&done);
  }
}

void Threads::Pool::park(Worker& worker) {
  Lock lock(mutex);
  worker.here = false;
  sleepers.fetch_add(1);  // then look once more: who publishes first and looks at `sleepers` second cannot miss us
  const uint64_t seen = wakes;
  while (!stop.load() && wakes == seen && region.share_of(worker.index).empty()) pthread_cond_wait(&wake, &mutex);
  arrive(worker);
}

// Who woke up on the caller's processor has pushed the caller off it. Under the mutex: of two who move a thread at a
// time, one would take the other's mask for the one to restore.
void Threads::Pool::arrive(Worker& worker) {
  sleepers.fetch_sub(1);
  worker.here = true;
  const int processor = current_processor();
  if (processor == callers_processor) move_off_processor(pthread_self(), processor);
}

void Threads::Pool::wake_sleepers() {
  if (sleepers.load() == 0) return;
  Lock lock(mutex);
  callers_processor = current_processor();
  ++wakes;
  pthread_cond_broadcast(&wake);
}

// A worker that was called and has not come may be waiting for the caller's own processor: the system wakes threads
// there when it takes the others for busy, as it does with the sleeping processors of a virtual machine, and corrects
// this after milliseconds. Asked at the end of a region, and behind a rest.
void Threads::Pool::move_the_late() {
  const int64_t now = now_ns();
  if (now - moved_at.load(std::memory_order_relaxed) < kMoveEveryNs) return;
  moved_at.store(now, std::memory_order_relaxed);
  const int processor = current_processor(), called = std::min(started, attendance.admitted() - 1);
  Lock lock(mutex);
  for (int i = 0, moved = 0; i < called && moved < kMostMoved; ++i) {
    if (workers[i].here) continue;
    move_off_processor(workers[i].thread, processor);
    ++moved;
  }
}

void Threads::Pool::sit_out(const Worker& worker) {
  Lock lock(mutex);
  while (!stop.load() && worker.index >= attendance.admitted()) pthread_cond_wait(&admission, &mutex);
}

void Threads::Pool::serve(Worker& worker) {
  const auto called = [&] { return !region.share_of(worker.index).empty(); };
  const auto roused = [&] { return called() || stop.load(std::memory_order_relaxed); };
  while (!stop.load()) {
    if (worker.index >= attendance.admitted()) sit_out(worker);
    help(worker);
    poll(roused, spin_ns);
    if (!called()) park(worker);
  }
}

void* Threads::Pool::enter(void* worker) {
  Worker* self = static_cast<Worker*>(worker);
  {
    Lock lock(self->pool->mutex);
    self->pool->arrive(*self);
  }
  self->pool->serve(*self);
  return nullptr;
}

Status Threads::Pool::start() {
  workers = static_cast<Worker*>(allocate(sizeof(Worker) * static_cast<size_t>(concurrency), alignof(Worker)));
  if (!workers) return out_of_memory();
  sigset_t all, old;  // signals are for the application's threads: workers inherit a mask that blocks them
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int failure = 0;
  for (int i = 1; i < concurrency && failure == 0; ++i) {
    Worker* worker = new (workers + started) Worker;
    worker->pool = this;
    worker->index = i;
    sleepers.fetch_add(1);
    failure = pthread_create(&worker->thread, nullptr, enter, worker);
    if (failure == 0) ++started;
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (failure == 0) return {};
  return error(Code::kSystem, "cannot create thread {} of {}", started + 1, concurrency)
      .hinting("ask for fewer threads, or raise the limit on processes (ulimit -u)");
}

void Threads::Pool::destroy(Pool* pool) {
  if (!pool) return;
  pool->stop.store(true);
  {
    Lock lock(pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_cond_broadcast(&pool->admission);
  }
  for (int i = 0; i < pool->started; ++i) pthread_join(pool->workers[i].thread, nullptr);
  deallocate(pool->workers);
  pthread_mutex_destroy(&pool->mutex);
  pthread_cond_destroy(&pool->wake);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->admission);
  pool->~Pool();
  deallocate(pool);
}

// Notes the processor time of all workers that hold tasks.
void Threads::Pool::ask_for_workers() {
  for (int i = 0; i < started; ++i) {
    Worker& worker = workers[i];
    worker.cpu_ns = worker.holds.load(std::memory_order_relaxed) ? cpu_ns_of(worker.thread) : -1;
  }
}

// How long the worker that had the least of a processor since then had none.
int64_t Threads::Pool::kept_from_work(int64_t waited_ns) const {
  int64_t most = 0;
  for (int i = 0; i < started; ++i) {
    const Worker& worker = workers[i];
    if (worker.cpu_ns > 0) most = std::max(most, waited_ns - (cpu_ns_of(worker.thread) - worker.cpu_ns));
  }
  return most;
}

int64_t Threads::Pool::worked_ns(int64_t now) const {
  const int64_t ended = working_ns.load(std::memory_order_relaxed);
  return bursts.load(std::memory_order_relaxed) > 0 ? ended + now - burst_began.load(std::memory_order_relaxed) : ended;
}

void Threads::Pool::try_all_again() {
  const int64_t now = now_ns();
  if (!attendance.due(now)) return;
  Lock lock(mutex);  // nobody falls asleep between looking and being told
  attendance.admit_all(worked_ns(now));
  pthread_cond_broadcast(&admission);
}

void Threads::Pool::await_region() {
  const auto ended = [this] { return region.unfinished.load(std::memory_order_acquire) == 0; };
  if (ended() || poll(ended, kPromptNs)) return;
  const int64_t asked = now_ns();
  ask_for_workers();
  if (poll(ended, kCallerSpinNs - kPromptNs)) return;
  const int64_t lay_down = now_ns();
  {
    Lock lock(mutex);
    caller_sleeps.store(true);
    while (region.unfinished.load() != 0) pthread_cond_wait(&done, &mutex);
    caller_sleeps.store(false);
  }
  const int64_t now = now_ns(), lost = kept_from_work(now - asked);
  asleep_ns.fetch_add(now - lay_down, std::memory_order_relaxed);
  attendance.lost(lost, now, worked_ns(now));
}

// What the caller had neither a processor for nor slept through was taken from it, too.
void Threads::Pool::look_at_burst(const BurstStart& start, int64_t now) {
  const int64_t slept = asleep_ns.load(std::memory_order_relaxed) - start.asleep_ns;
  const int64_t lost = now - start.began_ns - (thread_cpu_ns() - start.cpu_ns) - slept;
  if (lost <= 0 || busy.exchange(true, std::memory_order_acquire)) return;
  attendance.lost(lost, now, worked_ns(now));
  busy.store(false, std::memory_order_release);
}

void Threads::Pool::run_region(TaskFn fn, const void* context, int64_t tasks) {
  if (!attendance.complete()) try_all_again();
  if (attendance.admitted() == 1) return fn(context, 0, tasks, 0);
  region.describe(fn, context, tasks);
  region.publish(tasks, attendance.admitted());
  wake_sleepers();
  const int64_t mine = region.help(0, [] {});
  if (sleepers.load(std::memory_order_relaxed) > 0) move_the_late();
  region.unfinished.fetch_sub(mine, std::memory_order_acq_rel);
  await_region();
}

void Threads::Pool::run_on_executor(TaskFn fn, const void* context, int64_t tasks) const {
  Region own(concurrency);
  own.describe(fn, context, tasks);
  own.publish(tasks, concurrency);
  const auto take = [](void* arg, int index) { static_cast<Region*>(arg)->help(index, [] {}); };
  executor.parallel(executor.self, take, &own, static_cast<int>(std::min<int64_t>(concurrency, tasks)));
}

Result<Threads> Threads::create(const ThreadsOptions& options) {
  const Executor* executor = options.executor;
  MICA_CHECK(options.threads >= 0 && options.threads <= kMaxThreads, kUsage,
             "the number of threads is {}, not within 0 and {}", options.threads, kMaxThreads);
  MICA_CHECK(!executor || (executor->parallel && executor->concurrency >= 1), kUsage,
             "an executor needs a function `parallel` and a concurrency of at least 1");
  void* memory = allocate(sizeof(Pool), alignof(Pool));
  if (!memory) return out_of_memory();
  const int wanted = options.threads ? options.threads : executor ? executor->concurrency : default_threads();
  Pool* pool = new (memory) Pool(std::min(wanted, executor ? executor->concurrency : kMaxThreads));
  Threads made(pool);  // releases the pool on the way out when something fails
  pool->spin_ns = options.spin_ns;
  if (executor) {
    pool->executor = *executor;
  } else {
    MICA_TRY_STATUS(pool->start());
  }
  return made;
}

Threads& Threads::operator=(Threads&& other) noexcept {
  std::swap(pool_, other.pool_);
  return *this;
}

Threads::~Threads() { Pool::destroy(pool_); }

int Threads::concurrency() const { return pool_->concurrency; }

void Threads::run(TaskFn fn, const void* context, int64_t tasks) {
  if (tasks <= 0) return;
  Pool& pool = *pool_;
  if (pool.concurrency == 1 || tasks == 1 || tasks > Share::kMostTasks) return fn(context, 0, tasks, 0);
  if (pool.executor.parallel) return pool.run_on_executor(fn, context, tasks);
  if (pool.busy.exchange(true, std::memory_order_acquire)) return fn(context, 0, tasks, 0);
  pool.run_region(fn, context, tasks);
  pool.busy.store(false, std::memory_order_release);
}

BurstStart Threads::begin_burst() {
  Pool& pool = *pool_;
  if (pool.started == 0) return {};
  BurstStart start{.began_ns = now_ns()};
  pool.burst_began.store(start.began_ns, std::memory_order_relaxed);
  pool.bursts.fetch_add(1);
  if (pool.attendance.admitted() == 1) return start;
  pool.wake_sleepers();
  if (start.began_ns - pool.ended_at.load(std::memory_order_relaxed) > kRestNs) pool.move_the_late();
  if (start.began_ns - pool.looked_at.load(std::memory_order_relaxed) > kLookEveryNs) {
    pool.looked_at.store(start.began_ns, std::memory_order_relaxed);
    start.asleep_ns = pool.asleep_ns.load(std::memory_order_relaxed);
    start.cpu_ns = thread_cpu_ns();
  }
  return start;
}

void Threads::end_burst(const BurstStart& start) {
  Pool& pool = *pool_;
  if (pool.started == 0) return;
  const int64_t now = now_ns();
  if (start.cpu_ns >= 0) pool.look_at_burst(start, now);
  pool.ended_at.store(now, std::memory_order_relaxed);
  pool.bursts.fetch_sub(1);
  pool.working_ns.fetch_add(now - start.began_ns, std::memory_order_relaxed);
}

}  // namespace mica
