#include "base/threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "base/fp_mode.h"
#include "base/os.h"

namespace mica {
namespace {

constexpr int64_t kChunksPerThread = 8;   // evens out threads of unequal speed; more only costs claims
constexpr int kPollsPerClock = 32;        // polls between looks at the clock, about 1 µs
constexpr int64_t kCallerSpinNs = 50000;  // the longest the caller polls for a chunk that another thread holds

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

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// One region. `unclaimed` counts chunks down. A thread that takes the step from n+1 to n owns chunk n, counted from the
// end, and only an owner reads the other fields: the region cannot end while a chunk is owned, so they stay as they
// are, whatever a latecomer saw before. `unfinished` reaching 0 ends the region.
struct alignas(kCacheLine) Region {
  TaskFn fn = nullptr;
  const void* context = nullptr;
  int64_t tasks = 0, chunk_tasks = 0, chunks = 0;
  uint64_t fp_mode = 0;
  alignas(kCacheLine) std::atomic<int64_t> unclaimed{0};
  alignas(kCacheLine) std::atomic<int64_t> unfinished{0};

  // Returns a chunk's number from the end, or -1.
  int64_t claim() {
    int64_t left = unclaimed.load(std::memory_order_relaxed);
    while (left > 0 &&
           !unclaimed.compare_exchange_weak(left, left - 1, std::memory_order_acquire, std::memory_order_relaxed)) {
    }
    return left - 1;
  }
  void work(int64_t from_end, int worker) const {
    const int64_t begin = (chunks - 1 - from_end) * chunk_tasks;
    fn(context, begin, std::min(begin + chunk_tasks, tasks), worker);
  }
  // Before others can see it: everything but `unclaimed`.
  void describe(TaskFn f, const void* c, int64_t task_count, int64_t grain, int threads) {
    fn = f;
    context = c;
    tasks = task_count;
    const int64_t grains = (tasks - 1) / grain + 1;
    const int64_t most = kChunksPerThread * threads;
    chunk_tasks = grains <= most ? grain : ((grains - 1) / most + 1) * grain;
    chunks = (tasks - 1) / chunk_tasks + 1;
    fp_mode = mica::fp_mode();
    unfinished.store(chunks, std::memory_order_relaxed);
  }
};

}  // namespace

struct Threads::Pool {
  struct Worker {
    Pool* pool = nullptr;
    int index = 0;
    pthread_t thread{};
  };

  Region region;
  alignas(kCacheLine) std::atomic<bool> busy{false};  // a region has this pool
  std::atomic<int> bursts{0}, sleepers{0};
  std::atomic<bool> stop{false}, caller_sleeps{false};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
  uint64_t wakes = 0;  // under the mutex
  Executor executor;
  int concurrency = 1, started = 0;
  int64_t spin_ns = 0;
  Worker* workers = nullptr;

  Status start();
  void run_region(TaskFn fn, const void* context, int64_t tasks, int64_t grain);
  void run_on_executor(TaskFn fn, const void* context, int64_t tasks, int64_t grain) const;
  void await_region();
  void wake_sleepers();
  bool help(int index);
  void park();
  void serve(int index);
  static void* enter(void* worker);
  static void destroy(Pool* pool);
};

// Takes chunks until none is left; whether there was one.
bool Threads::Pool::help(int index) {
  int64_t chunk = region.claim();
  if (chunk < 0) return false;
  while (chunk >= 0) {
    {
      const FpModeScope mode(region.fp_mode);
      region.work(chunk, index);
    }
    // Finishing gives up the right to read the region; sequential consistency pairs with `await_region`.
    if (region.unfinished.fetch_sub(1) == 1 && caller_sleeps.load()) {
      Lock lock(mutex);
      pthread_cond_signal(&done);
    }
    chunk = region.claim();
  }
  return true;
}

void Threads::Pool::park() {
  Lock lock(mutex);
  sleepers.fetch_add(1);  // then look once more: who publishes first and looks at `sleepers` second cannot miss us
  const uint64_t seen = wakes;
  while (!stop.load() && wakes == seen && region.unclaimed.load() == 0) pthread_cond_wait(&wake, &mutex);
  sleepers.fetch_sub(1);
}

void Threads::Pool::wake_sleepers() {
  if (sleepers.load() == 0) return;
  Lock lock(mutex);
  ++wakes;
  pthread_cond_broadcast(&wake);
}

void Threads::Pool::serve(int index) {
  const auto called = [this] { return region.unclaimed.load(std::memory_order_relaxed) > 0; };
  const auto roused = [&] { return called() || stop.load(std::memory_order_relaxed) || bursts.load() == 0; };
  while (!stop.load()) {
    help(index);
    if (bursts.load() > 0) poll(roused, spin_ns);
    if (!called()) park();
  }
}

void* Threads::Pool::enter(void* worker) {
  const Worker* self = static_cast<const Worker*>(worker);
  self->pool->serve(self->index);
  return nullptr;
}

Status Threads::Pool::start() {
  workers = static_cast<Worker*>(allocate(sizeof(Worker) * static_cast<size_t>(concurrency)));
  if (!workers) return out_of_memory();
  sigset_t all, old;  // signals are for the application's threads: workers inherit a mask that blocks them
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int failure = 0;
  for (int i = 1; i < concurrency && failure == 0; ++i) {
    Worker* worker = new (workers + started) Worker{this, i, {}};
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
  }
  for (int i = 0; i < pool->started; ++i) pthread_join(pool->workers[i].thread, nullptr);
  deallocate(pool->workers);
  pthread_mutex_destroy(&pool->mutex);
  pthread_cond_destroy(&pool->wake);
  pthread_cond_destroy(&pool->done);
  pool->~Pool();
  deallocate(pool);
}

void Threads::Pool::await_region() {
  const auto ended = [this] { return region.unfinished.load(std::memory_order_acquire) == 0; };
  if (ended() || poll(ended, kCallerSpinNs)) return;
  Lock lock(mutex);
  caller_sleeps.store(true);
  while (region.unfinished.load() != 0) pthread_cond_wait(&done, &mutex);
  caller_sleeps.store(false);
}

void Threads::Pool::run_region(TaskFn fn, const void* context, int64_t tasks, int64_t grain) {
  region.describe(fn, context, tasks, grain, concurrency);
  region.unclaimed.store(region.chunks);  // publishes; sequentially consistent with `park`
  wake_sleepers();
  int64_t mine = 0;
  for (int64_t chunk = region.claim(); chunk >= 0; chunk = region.claim(), ++mine) region.work(chunk, 0);
  region.unfinished.fetch_sub(mine, std::memory_order_acq_rel);
  await_region();
}

void Threads::Pool::run_on_executor(TaskFn fn, const void* context, int64_t tasks, int64_t grain) const {
  Region own;
  own.describe(fn, context, tasks, grain, concurrency);
  own.unclaimed.store(own.chunks);
  const auto take = [](void* arg, int index) {
    Region& shared = *static_cast<Region*>(arg);
    const FpModeScope mode(shared.fp_mode);
    for (int64_t chunk = shared.claim(); chunk >= 0; chunk = shared.claim()) shared.work(chunk, index);
  };
  executor.parallel(executor.self, take, &own, static_cast<int>(std::min<int64_t>(concurrency, own.chunks)));
}

Result<Threads> Threads::create(const ThreadsOptions& options) {
  const Executor* executor = options.executor;
  MICA_CHECK(options.threads >= 0 && options.threads <= kMaxThreads, kUsage,
             "the number of threads is {}, not within 0 and {}", options.threads, kMaxThreads);
  MICA_CHECK(!executor || (executor->parallel && executor->concurrency >= 1), kUsage,
             "an executor needs a function `parallel` and a concurrency of at least 1");
  void* memory = allocate(sizeof(Pool), alignof(Pool));
  if (!memory) return out_of_memory();
  Pool* pool = new (memory) Pool;
  Threads made(pool);  // releases the pool on the way out when something fails
  const int wanted = options.threads ? options.threads : executor ? executor->concurrency : default_threads();
  pool->concurrency = std::min(wanted, executor ? executor->concurrency : kMaxThreads);
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

void Threads::run(TaskFn fn, const void* context, int64_t tasks, int64_t grain) {
  if (tasks <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  Pool& pool = *pool_;
  if (pool.concurrency == 1 || tasks <= grain) return fn(context, 0, tasks, 0);
  if (pool.executor.parallel) return pool.run_on_executor(fn, context, tasks, grain);
  if (pool.busy.exchange(true, std::memory_order_acquire)) return fn(context, 0, tasks, 0);
  pool.run_region(fn, context, tasks, grain);
  pool.busy.store(false, std::memory_order_release);
}

void Threads::begin_burst() {
  if (pool_->started == 0) return;
  pool_->bursts.fetch_add(1);
  pool_->wake_sleepers();
}

void Threads::end_burst() {
  if (pool_->started > 0) pool_->bursts.fetch_sub(1);
}

}  // namespace mica
