// What the machine can do at most: the ceilings that a kernel's speed is held against.
#pragma once
#include "runtime/model.h"

namespace mica {

// Bandwidth while the data stay within `bytes`: the better of reading alone and copying, in bytes a second.
struct MemoryLevel {
  double bytes = 0;  // that the level holds, for all threads of `all`; the last level, memory, holds everything
  double one = 0, all = 0;
};

struct MachinePeak {
  double flops_one = 0,
         flops_all = 0;             // single-precision operations a second on one thread, and on all of the context's
  double dot_one = 0, dot_all = 0;  // operations of products of bytes, summed in 32 bits
  double bytes_one = 0, bytes_all = 0;  // bytes a second: reading one stream and writing another, far beyond the caches
  MemoryLevel levels[4];                // L1, L2, L3, memory; a cache that the machine lacks has the next one's numbers
  // A line of memory goes from the caller to another thread and back: 50 to 100 ns where both share a cache, 300 and
  // more where they do not, and what threads share costs as much more. 0: there is one thread, or none came.
  double handover_ns = 0;
};
// Takes about a second, most of it for memory far larger than the last cache. `passed`: bytes that a thread goes over
// in a run, a model's weights; the shared cache is measured over as many where it holds them, since it is the slower
// the more of it is read. Errors: kOutOfMemory.
Result<MachinePeak> measure_peak(Context& context, size_t passed = 0);

}  // namespace mica
