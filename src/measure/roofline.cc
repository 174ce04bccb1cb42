#include "measure/roofline.h"

#include <algorithm>

namespace mica {
namespace {

// Seconds to move `bytes` of a set of `whole` bytes, of which each level holds as much as it can, innermost first.
double seconds_for(double bytes, double whole, const MachinePeak& peak) {
  double seconds = 0, before = 0;
  if (bytes <= 0 || whole <= 0) return 0;
  for (const MemoryLevel& level : peak.levels) {
    const double held = std::min(whole, level.bytes);
    if (held > before && level.all > 0) seconds += bytes * (held - before) / whole / level.all;
    before = std::max(before, held);
  }
  return seconds;
}

}  // namespace

double roofline_seconds(const StageWork& work, const MachinePeak& peak, double model_constants) {
  const double ceiling = work.bytes_product ? peak.dot_all : peak.flops_all;
  const double arithmetic = ceiling > 0 ? work.flops / ceiling : 0;
  const double traffic = seconds_for(work.operand_bytes, work.operand_bytes, peak) +
                         seconds_for(work.constant_bytes, std::max(model_constants, work.constant_bytes), peak);
  return std::max(arithmetic, traffic);
}

}  // namespace mica
