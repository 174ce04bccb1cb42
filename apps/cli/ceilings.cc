#include "ceilings.h"

#include <fmt/format.h>

namespace mica::cli {
namespace {

constexpr const char* kLevels[] = {"L1", "L2", "L3", "memory"};

}  // namespace

nlohmann::ordered_json ceilings_json(const tools::MachinePeak& peak) {
  nlohmann::ordered_json made = {{"fma_gflops", {peak.flops_one * 1e-9, peak.flops_all * 1e-9}},
                                 {"dot_gops", {peak.dot_one * 1e-9, peak.dot_all * 1e-9}},
                                 {"levels", nlohmann::ordered_json::array()}};
  if (peak.handover_ns > 0) made["handover_ns"] = peak.handover_ns;
  for (size_t i = 0; i < std::size(peak.levels); ++i) {
    const tools::MemoryLevel& level = peak.levels[i];
    nlohmann::ordered_json row = {{"name", kLevels[i]}, {"gbytes", {level.one * 1e-9, level.all * 1e-9}}};
    if (level.bytes < 1e18) row["bytes"] = static_cast<int64_t>(level.bytes);
    made["levels"].push_back(std::move(row));
  }
  return made;
}

void add_ceilings(Table& table, const tools::MachinePeak& peak) {
  table.row({"arithmetic",
             fmt::format("{:.1f} GFLOP/s on one thread, {:.1f} on all", peak.flops_one * 1e-9, peak.flops_all * 1e-9)});
  table.row({"products of bytes",
             fmt::format("{:.1f} GOP/s on one thread, {:.1f} on all", peak.dot_one * 1e-9, peak.dot_all * 1e-9)});
  for (size_t i = 0; i < std::size(peak.levels); ++i)
    table.row({kLevels[i], fmt::format("{:.1f} GB/s on one thread, {:.1f} on all", peak.levels[i].one * 1e-9,
                                       peak.levels[i].all * 1e-9)});
  if (peak.handover_ns > 0)
    table.row({"hand-over", fmt::format("{:.0f} ns for a line to another thread and back", peak.handover_ns)});
}

}  // namespace mica::cli
