#include "measure/peak.h"

#include <algorithm>
#include <cstring>

#include "base/os.h"
#include "base/threads.h"
#include "kernels/gemm/gemm.h"

namespace mica {
namespace {

constexpr int kTries = 5;
constexpr int64_t kRounds = 200000;           // a few milliseconds
constexpr size_t kStream = size_t{64} << 20;  // beyond every last-level cache of a device
constexpr size_t kPiece = size_t{256} << 10;

// Seconds of the fastest of several tries, which is the one that nothing else disturbed.
template <class Work>
double least_seconds(const Work& work) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const int64_t begin = now_ns();
    work();
    best = std::min(best, now_ns() - begin);
  }
  return static_cast<double>(std::max<int64_t>(best, 1)) * 1e-9;
}

template <class Body>
void on_all(Threads& threads, int64_t tasks, const Body& body) {
  const Burst burst(threads);
  threads.run(tasks, 1, body);
}

void copy_pieces(const char* from, char* to, int64_t begin, int64_t end) {
  const auto first = static_cast<size_t>(begin) * kPiece, bytes = static_cast<size_t>(end - begin) * kPiece;
  std::memcpy(to + first, from + first, bytes);
}

}  // namespace

Result<MachinePeak> measure_peak(Context& context) {
  Threads& threads = *context.threads;
  const GemmKernels& kernels = gemm_kernels(context.machine.isa);
  const int workers = threads.concurrency();
  MachinePeak peak;
  const double work = static_cast<double>(kernels.fma_loop_flops) * static_cast<double>(kRounds);
  const auto spin = [&](int64_t begin, int64_t end, int) {
    alignas(kCacheLine) float sink[16];
    for (int64_t i = begin; i < end; ++i) kernels.fma_loop(kRounds, sink);
  };
  peak.flops_one = work / least_seconds([&] { spin(0, 1, 0); });
  peak.flops_all = work * workers / least_seconds([&] { on_all(threads, workers, spin); });
  auto* memory = static_cast<char*>(map_memory(2 * kStream, true));
  if (!memory) return out_of_memory();
  std::memset(memory, 1, 2 * kStream);  // pages come with the first touch
  constexpr auto kPieces = static_cast<int64_t>(kStream / kPiece);
  const auto copy = [&](int64_t begin, int64_t end, int) { copy_pieces(memory, memory + kStream, begin, end); };
  constexpr double kMoved = 2.0 * static_cast<double>(kStream);
  peak.bytes_one = kMoved / least_seconds([&] { copy(0, kPieces, 0); });
  peak.bytes_all = workers > 1 ? kMoved / least_seconds([&] { on_all(threads, kPieces, copy); }) : peak.bytes_one;
  unmap_memory(memory, 2 * kStream);
  return peak;
}

}  // namespace mica
