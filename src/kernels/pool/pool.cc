#include "kernels/pool/pool.h"

#include "base/format.h"
#include "base/integers.h"
#include "base/isa.h"
#include "kernels/split.h"
#include "mica_isas.inc"

namespace mica {

#define MICA_DECLARE(set)                \
  namespace set {                        \
  extern const PoolKernels pool_kernels; \
  }
MICA_FOREACH_ISA(MICA_DECLARE)
#undef MICA_DECLARE

const PoolKernels& pool_kernels(Isa isa) {
#define MICA_PICK(set) \
  if (name_of(isa) == #set) return set::pool_kernels;
  MICA_FOREACH_ISA(MICA_PICK)
#undef MICA_PICK
  return MICA_PLAINEST_ISA::pool_kernels;
}

int64_t reach_of(const PoolProblem& p) { return (p.kernel[2] - 1) * p.dilation[2] + 1; }

bool suits_lines(const PoolProblem& p) {
  const bool kind = p.kind == PoolKind::kMax || p.kind == PoolKind::kAverage;
  const int64_t most = p.stride[2] == 1 ? kMostLineChannels : kMostStridedChannels;
  return kWithWindows && kind && p.channels <= most && p.in_view.pixel == p.channels &&
         p.out_view.pixel == p.channels && p.out[2] > 1 && 2 * reach_of(p) * p.channels <= kMostLine &&
         p.stride[2] <= reach_of(p);
}

bool suits_planes(const PoolProblem& p) {
  constexpr int64_t kShort = 8, kShortStrided = 32;
  return suits_lines(p) && p.out[2] >= (p.stride[2] == 1 ? kShort : kShortStrided);
}

PoolChoice choose_pool(const PoolProblem& p, int threads) {
  PoolChoice c;
  const int64_t rows = p.images * p.out[0] * p.out[1];
  if (rows <= 0 || p.out[2] <= 0 || p.channels <= 0) return c;
  c.lines = suits_lines(p);
  // Some 5 µs each: 30,000 loads, about one a pixel of a window, or 150 KB from beyond the second-level cache.
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2], pixels = rows * p.out[2];
  const int64_t vectors = c.lines ? ceil_div(pixels * p.channels, 16) : pixels * ceil_div(p.channels, 16);
  const int64_t loads = vectors * taps / 30000;
  const int64_t bytes = (pixels + p.images * p.in[0] * p.in[1] * p.in[2]) * p.channels * 4;
  const int64_t work = most(loads, bytes / 150000);
  const int64_t wanted = threads > 1 ? (work < 1 ? 1 : least(4 * static_cast<int64_t>(threads), work)) : 1;
  const int64_t row_tasks = least(rows, wanted),
                channel_tasks = c.lines ? 1 : least(ceil_div(p.channels, 64), ceil_div(wanted, row_tasks));
  c.row_block = even_block(rows, row_tasks, threads);
  c.channel_block = even_block(ceil_div(p.channels, 64), channel_tasks, threads) * 64;
  c.tasks = ceil_div(rows, c.row_block) * ceil_div(p.channels, c.channel_block);
  return c;
}

size_t print(const PoolProblem& p, const PoolChoice& c, char* out, size_t size) {
  constexpr std::string_view kNames[] = {"max", "average", "l1", "l2"};
  return format_to(out, size, "{} {}x{}x{}x{} -> {}x{} kernel={}x{}x{} lines={} tasks={}",
                   kNames[static_cast<int>(p.kind)], p.images, p.in[1], p.in[2], p.channels, p.out[1], p.out[2],
                   p.kernel[0], p.kernel[1], p.kernel[2], c.lines, c.tasks);
}

}  // namespace mica
