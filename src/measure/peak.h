// What the machine can do at most: the numbers that a kernel's speed is held against.
#pragma once
#include "runtime/model.h"

namespace mica {

struct MachinePeak {
  double flops_one = 0,
         flops_all = 0;  // single-precision operations a second on one thread, and on all of the context's
  double bytes_one = 0, bytes_all = 0;  // bytes a second: reading one stream and writing another, far beyond the caches
};
// Takes about 0.2 s. Errors: kOutOfMemory.
Result<MachinePeak> measure_peak(Context& context);

}  // namespace mica
