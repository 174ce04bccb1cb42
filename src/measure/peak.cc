#include "measure/peak.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/os.h"
#include "base/threads.h"
#include "kernels/gemm/gemm.h"
#include "measure/ceiling_loops.h"

namespace mica {
namespace {

constexpr int kTries = 5;
constexpr int64_t kRounds = 200000;                                      // a few milliseconds
constexpr double kTouched = 64 << 20;                                    // bytes of a try in a cache
constexpr size_t kLeast = size_t{128} << 20, kMost = size_t{512} << 20;  // of memory beyond the caches
constexpr size_t kQuantum = size_t{64} << 10;                            // buffers are multiples of it

// Seconds of the fastest of several tries, which is the one that nothing else disturbed.
template <class Work>
double least_seconds(int tries, const Work& work) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < tries; ++i) {
    const int64_t begin = now_ns();
    work();
    best = std::min(best, now_ns() - begin);
  }
  return static_cast<double>(std::max<int64_t>(best, 1)) * 1e-9;
}

template <class Body>
void on_all(Threads& threads, int64_t tasks, const Body& body) {
  const Burst burst(&threads);
  threads.run(tasks, body);
}

// Operations a second of a loop in registers, on one thread and on all.
template <class Loop>
void measure_registers(Threads& threads, double work, const Loop& loop, double& one, double& all) {
  const int workers = threads.concurrency();
  const auto spin = [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) loop();
  };
  one = work / least_seconds(kTries, [&] { spin(0, 1, 0); });
  all = workers > 1 ? work * workers / least_seconds(kTries, [&] { on_all(threads, workers, spin); }) : one;
}

struct Bandwidth {
  double read_one = 0, read_all = 0, copy_one = 0, copy_all = 0;
};

// Every worker goes over `bytes` of its own part of `memory`, which is workers · bytes long.
Bandwidth measure_bandwidth(Context& context, char* memory, size_t bytes, int tries) {
  Threads& threads = *context.threads;
  const CeilingLoops& loops = ceiling_loops(context.machine.isa);
  const int workers = threads.concurrency();
  const int repeats = static_cast<int>(std::clamp(kTouched / static_cast<double>(bytes), 1.0, 1e6));
  const auto count = static_cast<int64_t>(bytes / sizeof(float));
  float kept = 0;
  const auto pass = [&](int64_t part, bool copying) {
    auto* at = reinterpret_cast<float*>(memory + static_cast<size_t>(part) * bytes);
    for (int r = 0; r < repeats; ++r) {
      if (copying)
        loops.copy(at, at + count / 2, count / 2);
      else if (loops.read(at, count) == 1e30f)
        kept = 1;  // never, but the compiler does not know
    }
  };
  const double moved = static_cast<double>(bytes) * repeats;
  Bandwidth found;
  for (const bool copying : {false, true}) {
    const auto parts = [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) pass(i, copying);
    };
    const double one = moved / least_seconds(tries, [&] { pass(0, copying); });
    const double all =
        workers > 1 ? moved * workers / least_seconds(tries, [&] { on_all(threads, workers, parts); }) : one;
    (copying ? found.copy_one : found.read_one) = one + static_cast<double>(kept);
    (copying ? found.copy_all : found.read_all) = all;
  }
  return found;
}

struct Working {
  double capacity;  // what the level holds for all threads
  size_t bytes;     // that a thread goes over while it is measured
};

// Half of a cache stays free for what else lives there. A shared last level is measured well beyond the one before it,
// and holds no more than that half: others read and write, too.
Working working_set(const Machine& machine, int level, int workers, size_t passed) {
  const auto multiple = [](size_t bytes) { return std::max(kQuantum / 4, bytes / (kQuantum / 4) * (kQuantum / 4)); };
  if (level == 0) return {static_cast<double>(machine.l1d) * workers, multiple(machine.l1d / 2)};
  if (level == 1) return {static_cast<double>(machine.l2) * workers, multiple(machine.l2 / 2)};
  const size_t share = machine.l3 / (2 * static_cast<size_t>(workers));
  return {static_cast<double>(machine.l3) / 2, multiple(std::min(share, std::max(4 * machine.l2, passed)))};
}

// The least of several tries. A worker that does not come (another process has its processor) leaves 0.
double measure_handover(Threads& threads) {
  constexpr int kTurns = 1000, kTimes = 16;
  constexpr int64_t kPatience = 20'000'000;  // nanoseconds for all of it
  if (threads.concurrency() < 2) return 0;
  alignas(kCacheLine) std::atomic<int> turn{0};
  const int64_t end = now_ns() + kPatience;
  int64_t best = INT64_MAX;
  // The caller's turns are odd, the other thread's even.
  const auto wait_for = [&](int number) {
    for (int spins = 1; turn.load(std::memory_order_acquire) != number; ++spins)
      if (spins % 1024 == 0 && now_ns() > end) return false;
    return true;
  };
  const auto play = [&](int64_t player) {
    for (int i = 0; i < kTimes; ++i) {
      const int64_t begin = now_ns();
      for (int k = 0; k < kTurns; ++k) {
        const int number = 2 * (i * kTurns + k) + 1;
        if (player == 0) turn.store(number, std::memory_order_release);
        if (!wait_for(player == 0 ? number + 1 : number)) return;
        if (player == 1) turn.store(number + 1, std::memory_order_release);
      }
      if (player == 0) best = std::min(best, now_ns() - begin);
    }
  };
  on_all(threads, 2, [&](int64_t first, int64_t last, int) {
    for (int64_t player = first; player < last; ++player) play(player);
  });
  return best == INT64_MAX ? 0 : static_cast<double>(best) / kTurns;
}

}  // namespace

Result<MachinePeak> measure_peak(Context& context, size_t passed) {
  Threads& threads = *context.threads;
  const Machine& machine = context.machine;
  const auto workers = static_cast<size_t>(threads.concurrency());
  MachinePeak peak;
  const GemmKernels& gemm = gemm_kernels(machine.isa);
  const CeilingLoops& loops = ceiling_loops(machine.isa);
  const auto fma = [&] {
    alignas(kCacheLine) float sink[16];
    gemm.fma_loop(kRounds, sink);
  };
  const auto dot = [&] {
    alignas(kCacheLine) int32_t sink[16];
    loops.dot(kRounds, sink);
  };
  constexpr auto kTimes = static_cast<double>(kRounds);
  measure_registers(threads, static_cast<double>(gemm.fma_loop_flops) * kTimes, fma, peak.flops_one, peak.flops_all);
  measure_registers(threads, static_cast<double>(loops.dot_ops) * kTimes, dot, peak.dot_one, peak.dot_all);
  peak.handover_ns = measure_handover(threads);
  const size_t part = std::clamp(2 * machine.l3, kLeast, kMost) / workers / kQuantum * kQuantum, total = part * workers;
  auto* memory = static_cast<char*>(map_memory(total, true));
  if (!memory) return out_of_memory();
  std::memset(memory, 1, total);  // pages come with the first touch
  const Bandwidth far = measure_bandwidth(context, memory, part, 2);
  peak.bytes_one = far.copy_one, peak.bytes_all = far.copy_all;
  peak.levels[3] = {1e300, std::max(far.read_one, far.copy_one), std::max(far.read_all, far.copy_all)};
  for (int level = 2; level >= 0; --level) {
    const Working set = working_set(machine, level, static_cast<int>(workers), passed);
    peak.levels[level] = peak.levels[level + 1];
    if (set.bytes > part || (level == 2 && machine.l3 <= machine.l2 * workers)) continue;
    const Bandwidth near = measure_bandwidth(context, memory, set.bytes, kTries);
    // A slower inner level is a disturbed measurement: what the outer one gives, the inner one does too.
    peak.levels[level] = {set.capacity, std::max({near.read_one, near.copy_one, peak.levels[level + 1].one}),
                          std::max({near.read_all, near.copy_all, peak.levels[level + 1].all})};
  }
  unmap_memory(memory, total);
  return peak;
}

}  // namespace mica
