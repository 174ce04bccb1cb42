#include "base/threads.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "base/fp_mode.h"
#include "base/os.h"

namespace mica {
namespace {

Threads make(int threads) {
  auto made = Threads::create({.threads = threads});
  EXPECT_TRUE(made.ok());
  return made.take();
}

// Every task exactly once, within the bounds, with no worker index in two places at a time.
void expect_covers(Threads& threads, int64_t tasks) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(tasks));
  std::vector<std::atomic<int>> inside(static_cast<size_t>(threads.concurrency()));
  std::atomic<int> wrong{0};
  threads.run(tasks, [&](int64_t begin, int64_t end, int worker) {
    if (begin < 0 || end > tasks || begin >= end || worker < 0 || worker >= threads.concurrency()) {
      ++wrong;
      return;
    }
    if (inside[static_cast<size_t>(worker)].fetch_add(1) != 0) ++wrong;
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    inside[static_cast<size_t>(worker)].fetch_sub(1);
  });
  EXPECT_EQ(wrong.load(), 0);
  for (auto& count : seen) ASSERT_EQ(count.load(), 1);
}

TEST(ThreadPool, EveryTaskOnce) {
  for (int count : {1, 2, 3, 8}) {
    Threads threads = make(count);
    EXPECT_EQ(threads.concurrency(), count);
    for (int64_t tasks : {0, 1, 2, 3, 7, 64, 1009})
      for (int i = 0; i < 7; ++i) expect_covers(threads, tasks);
  }
}

TEST(ThreadPool, MoreThreadsThanShares) {
  Threads threads = make(100);
  for (int64_t tasks : {2, 99, 1000}) expect_covers(threads, tasks);
}

TEST(ThreadPool, MoreTasksThanShares) {
  Threads threads = make(3);
  std::atomic<int64_t> sum{0};
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  threads.run(kHuge, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
  EXPECT_EQ(sum.load(), kHuge);
  sum = 0;
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;  // the largest number that is shared
  threads.run(kMost, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
  EXPECT_EQ(sum.load(), kMost);
}

// Each thread begins with its own part and goes up from there; who has nothing left helps from the other end.
TEST(ThreadPool, SharesAreTheSameInEveryRegion) {
  Threads threads = make(2);
  int shared = 0;
  const int64_t deadline = now_ns() + 5000000000;
  while (shared < 20 && now_ns() < deadline) {
    std::atomic<int> arrived{0};
    std::vector<int64_t> begins[2];
    threads.run(11, [&](int64_t begin, int64_t end, int worker) {
      if (end - begin == 11) return;  // without the worker, which lost its processor lately
      if (begins[worker].empty()) ++arrived;
      while (arrived.load() < 2 && now_ns() < deadline) sched_yield();
      begins[worker].push_back(begin);
    });
    if (begins[0].empty() || begins[1].empty()) continue;
    ++shared;
    EXPECT_EQ(begins[0].at(0), 0);
    EXPECT_EQ(begins[1].at(0), 6);
    for (const auto& own : begins) {
      const auto turn = std::is_sorted_until(own.begin(), own.end());
      EXPECT_TRUE(std::is_sorted(turn, own.end(), std::greater<>()));
    }
  }
  EXPECT_EQ(shared, 20);
}

TEST(ThreadPool, OversubscribedBursts) {
  Threads threads = make(8);
  for (int burst = 0; burst < 30; ++burst) {
    const Burst scope(&threads);
    for (int region = 0; region < 20; ++region) expect_covers(threads, 40 + region);
  }
}

TEST(ThreadPool, WorkersTakePart) {
  Threads threads = make(2);
  std::atomic<int> arrived{0};
  const int64_t deadline = now_ns() + 5000000000;
  threads.run(2, [&](int64_t, int64_t, int) {  // both chunks must be held at the same time
    ++arrived;
    while (arrived.load() < 2 && now_ns() < deadline) sched_yield();
  });
  EXPECT_EQ(arrived.load(), 2);
  EXPECT_LT(now_ns(), deadline);
}

// One chunk takes long on a worker: the caller stops polling and sleeps, and is woken.
TEST(ThreadPool, CallerWaitsForALongChunk) {
  Threads threads = make(2);
  for (int i = 0; i < 5; ++i) {
    std::atomic<int> done{0};
    threads.run(2, [&](int64_t begin, int64_t end, int worker) {
      if (worker == 1) usleep(3000);
      while (worker == 0 && done.load() == 0 && i == 0) sched_yield();
      done += static_cast<int>(end - begin);
    });
    EXPECT_EQ(done.load(), 2);
  }
}

// Who sleeps in a chunk has no processor either.
TEST(ThreadPool, AWorkerWithoutProcessorStaysAwayForAWhile) {
  Threads threads = make(2);
  int64_t of_worker = 0, alone = 0;
  for (int i = 0; i < 50; ++i) {
    const Burst scope(&threads);
    std::atomic<int> arrived{0};
    const int64_t start = now_ns();
    threads.run(2, [&](int64_t begin, int64_t end, int worker) {
      ++arrived;
      // Both chunks are held at the same time, unless the caller has the two of them.
      while (end - begin == 1 && arrived.load() < 2 && now_ns() - start < 1000000000) sched_yield();
      if (worker == 1) usleep(3000), ++of_worker;
      if (end - begin == 2) ++alone, usleep(1000);
    });
  }
  EXPECT_GT(of_worker, 0);
  EXPECT_GT(alone, 2 * of_worker);
  const int64_t before = of_worker, deadline = now_ns() + 2000000000;
  while (of_worker == before && now_ns() < deadline)
    threads.run(2, [&](int64_t, int64_t, int worker) { worker == 1 ? void(++of_worker) : void(usleep(100)); });
  EXPECT_GT(of_worker, before);  // it is asked again
}

TEST(ThreadPool, SeveralCallersAndNestedRuns) {
  Threads threads = make(3);
  std::atomic<int64_t> total{0};
  const auto caller = [&] {
    for (int i = 0; i < 200; ++i) {
      const Burst scope(&threads);
      threads.run(20, [&](int64_t begin, int64_t end, int) {
        threads.run(3, [&](int64_t b, int64_t e, int) { total += (e - b) * (end - begin); });
      });
    }
  };
  std::thread other(caller);
  caller();
  other.join();
  EXPECT_EQ(total.load(), 2 * 200 * 20 * 3);
}

// Callers that work at once, on one pool or each on its own, come equally far: neither waits for the other's bursts.
TEST(ThreadPool, CallersShareFairly) {
  for (const bool together : {true, false}) {
    SCOPED_TRACE(together);
    Threads first = make(2), second = make(2);
    constexpr int64_t kFor = 400'000'000;
    std::atomic<int> ready{0};
    int64_t runs[2] = {};
    const auto caller = [&](Threads& threads, int64_t& count) {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      for (const int64_t begin = now_ns(); now_ns() - begin < kFor; ++count) {
        const Burst scope(&threads);
        for (int region = 0; region < 10; ++region)
          threads.run(8, [](int64_t b, int64_t e, int) {
            for (const int64_t end = thread_cpu_ns() + (e - b) * 10'000; thread_cpu_ns() < end;) {
            }
          });
      }
    };
    std::thread other([&] { caller(together ? first : second, runs[1]); });
    caller(first, runs[0]);
    other.join();
    EXPECT_GE(3 * std::min(runs[0], runs[1]), std::max(runs[0], runs[1])) << runs[0] << " and " << runs[1];
  }
}

TEST(ThreadPool, ParkedWorkersUseNoTime) {
  Threads threads = make(4);
  for (int i = 0; i < 50; ++i) {
    const Burst scope(&threads);
    threads.run(64, [](int64_t, int64_t, int) {});
  }
  usleep(10000);
  const int64_t before = process_cpu_ns();
  usleep(1000000);
  const int64_t used = process_cpu_ns() - before;
  RecordProperty("idle_us", static_cast<int>(used / 1000));
  EXPECT_LT(used, 1000000);
}

// An open burst without regions must not keep workers busy either.
TEST(ThreadPool, SpinIsBounded) {
  Threads threads = make(4);
  const Burst scope(&threads);
  threads.run(64, [](int64_t, int64_t, int) {});
  usleep(20000);
  const int64_t before = process_cpu_ns();
  usleep(200000);
  EXPECT_LT(process_cpu_ns() - before, 2000000);
}

TEST(ThreadPool, ForkJoinLatency) {
  Threads threads = make(2);
  const Burst scope(&threads);
  std::vector<int64_t> times;
  for (int i = 0; i < 2000; ++i) {
    const int64_t start = now_ns();
    threads.run(2, [](int64_t, int64_t, int) {});
    times.push_back(now_ns() - start);
  }
  std::sort(times.begin(), times.end());
  RecordProperty("median_ns", static_cast<int>(times[1000]));
  EXPECT_LT(times[1000], 200000);  // a bound for loaded machines and sanitizers; a few hundred ns when idle
}

TEST(ThreadPool, DestructionInEveryState) {
  for (int i = 0; i < 20; ++i) {
    Threads fresh = make(4);
    if (i % 4 == 0) continue;
    Threads moved = std::move(fresh);
    const BurstStart start = moved.begin_burst();
    moved.run(8, [](int64_t, int64_t, int) {});
    if (i % 4 == 1) usleep(1000);
    if (i % 4 == 2) moved.end_burst(start);
  }
}

TEST(ThreadPool, FloatingPointModeFollowsTheCallerAndComesBack) {
  Threads threads = make(2);
  const uint64_t before = fp_mode() & kFpControl;
  for (bool flush : {true, false, true}) {
    std::unique_ptr<FlushDenormals> scope;
    if (flush) scope = std::make_unique<FlushDenormals>();
    std::atomic<int> nonzero{0}, arrived{0};
    const int64_t deadline = now_ns() + 5000000000;
    while (arrived.load() < 2 && now_ns() < deadline) {
      nonzero = arrived = 0;
      threads.run(2, [&](int64_t begin, int64_t end, int) {
        if (end - begin == 2) return;  // without the worker, which lost its processor lately
        ++arrived;
        while (arrived.load() < 2 && now_ns() < deadline) sched_yield();
        volatile float tiny = std::numeric_limits<float>::min();
        volatile float half = tiny * 0.5f;
        if (half != 0) ++nonzero;
      });
    }
    EXPECT_EQ(arrived.load(), 2);
    EXPECT_EQ(nonzero.load(), flush && kFpFlush ? 0 : 2);
  }
  EXPECT_EQ(fp_mode() & kFpControl, before);
}

TEST(ThreadPool, CallersAffinityAndSignalMaskStay) {
  cpu_set_t old, now;
  sigset_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof old, &old), 0);
  {
    Threads threads = make(4);
    threads.run(100, [](int64_t, int64_t, int) {});
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
  EXPECT_TRUE(CPU_EQUAL(&old, &now));
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_FALSE(sigismember(&mask, SIGTERM));
}

// Workers are moved off their caller's processor, but may use all of them.
TEST(ThreadPool, WorkersKeepTheirProcessors) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  Threads threads = make(4);
  for (int i = 0; i < 200; ++i) {
    if (i % 20 == 0) usleep(2000);  // a rest, behind which they are
    const Burst burst(&threads);
    for (int region = 0; region < 3; ++region) threads.run(8, [](int64_t, int64_t, int) {});
  }
  std::atomic<int> others{0};
  threads.run(64, [&](int64_t, int64_t, int) {
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0 || !CPU_EQUAL(&mine, &all)) others.fetch_add(1);
    usleep(200);
  });
  EXPECT_EQ(others.load(), 0);
}

TEST(ThreadPool, CallersExecutor) {
  Executor executor;
  int calls = 0;
  executor.self = &calls;
  executor.concurrency = 3;
  executor.parallel = [](void* self, void (*fn)(void*, int), void* arg, int n) {
    ++*static_cast<int*>(self);
    std::vector<std::thread> own;
    for (int i = 1; i < n; ++i) own.emplace_back(fn, arg, i);
    fn(arg, 0);
    for (std::thread& thread : own) thread.join();
  };
  auto threads = Threads::create({.executor = &executor});
  ASSERT_TRUE(threads.ok());
  EXPECT_EQ(threads->concurrency(), 3);
  expect_covers(*threads, 1000);
  expect_covers(*threads, 2);
  expect_covers(*threads, 1);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(Threads::create({.threads = 2, .executor = &executor})->concurrency(), 2);
}

TEST(ThreadPool, BadOptions) {
  EXPECT_EQ(Threads::create({.threads = -1}).error().code(), Code::kUsage);
  EXPECT_EQ(Threads::create({.threads = 1 << 20}).error().code(), Code::kUsage);
  const Executor empty;
  EXPECT_EQ(Threads::create({.executor = &empty}).error().code(), Code::kUsage);
  auto defaults = Threads::create();
  ASSERT_TRUE(defaults.ok());
  EXPECT_EQ(defaults->concurrency(), default_threads());
}

}  // namespace
}  // namespace mica
