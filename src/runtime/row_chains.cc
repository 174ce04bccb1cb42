#include "runtime/row_chains.h"

#include <algorithm>

#include "base/format.h"

namespace mica {
namespace {

// Costs in nanoseconds, of a core of about 3 GHz with 512-bit vectors; only their relations matter. Bytes per
// nanosecond that pass through the second-level cache and beyond it, multiply-adds per nanosecond, and a call of a
// kernel.
constexpr double kNear = 60, kFar = 14, kWork = 60, kCall = 400;
constexpr double kLeastGain = 3000;
constexpr int64_t kHighStrip = 14;
constexpr int64_t kBands[] = {1, 2, 4, 6, 8, 12, 16, 24, 32};  // even: depthwise kernels make two rows at a time
constexpr int64_t kParts[] = {1, 2, 3, 4, 6, 8, 12, 16};
constexpr int64_t kLeastColumns = 28;  // of a part
constexpr int64_t kForcedColumns = 4;  // likewise, where chains are forced

// Rows or columns of one stage of a chain at a steady state, relative to the band, or part, that begins at place 0 of
// the last result.
struct Flow {
  int64_t end = 0, fresh = 0, keep = 0;  // fresh: how many rows a band adds
};

class Chooser {
 public:
  Chooser(std::span<const RowStage> stages, const RowLimits& limits) : stages_(stages), limits_(limits) {}

  // False when the stages [first, last] are no chain.
  bool consider(uint32_t first, uint32_t last, RowChain& best) {
    best = {first, last};
    RowChain chain{first, last, 1, strips_of(stages_[last])};
    if (limits_.mode == RowChainMode::kAlways) {  // in parts, too
      chain.parts = std::min<int64_t>(most_parts(first, last, kForcedColumns), 3);
      return consider_bands(chain, best);
    }
    const int64_t most = most_parts(first, last, kLeastColumns);
    for (int64_t parts : kParts) {
      if (parts > most) break;
      chain.parts = parts;
      if (consider_bands(chain, best)) return true;
    }
    return false;
  }

 private:
  bool consider_bands(RowChain chain, RowChain& best) const {
    bool found = false;
    for (int64_t band : kBands) {
      if (band > stages_[chain.last].out_rows && band > 1) break;
      chain.band_rows = band;
      if (!rate(chain)) break;  // nor do higher bands fit
      if (found && chain.gain_ns <= best.gain_ns) continue;
      best = chain;
      found = true;
    }
    return found;
  }

  // Parts are no narrower than the windows over them: else each computes more of its neighbours than of itself, and
  // dilated depthwise layers would sum in another order.
  int64_t most_parts(uint32_t first, uint32_t last, int64_t least_columns) const {
    for (const RowStage& stage : stages_.subspan(first, last - first + 1)) {
      if (stage.out_columns == 0) return 1;
      least_columns = std::max(least_columns, stage.window.columns.extent);
    }
    return std::max<int64_t>(1, stages_[last].out_columns / least_columns);
  }

  // Two for each thread, so that one that is late leaves work to the others, where they are high enough.
  int64_t strips_of(const RowStage& result) const {
    if (limits_.threads <= 1 || result.images >= limits_.threads) return 1;
    const int64_t rows = result.out_rows, threads = limits_.threads;
    return rows / (2 * threads) >= kHighStrip ? 2 * threads : std::min(rows, threads);
  }

  // The time in which threads that have fewer rows wait, relative to the work: of seven rows, one of two has four.
  double idle_share(const RowChain& chain, const RowStage& result) const {
    if (chain.strips <= 1) return 0;
    const int64_t rows = (result.out_rows + chain.strips - 1) / chain.strips;
    const int64_t most = (chain.strips + limits_.threads - 1) / limits_.threads * rows;
    return static_cast<double>(most * limits_.threads) / static_cast<double>(result.out_rows) - 1;
  }

  // Along one axis: `count` places of the last result at a time.
  void flow_of(const RowChain& chain, Reach RowWindow::*axis, int64_t count, Flow (&flow)[kMostChainStages]) const {
    const uint32_t n = chain.last - chain.first;
    for (uint32_t i = 0; i <= n; ++i) flow[i] = {INT64_MIN, 0, INT64_MAX};
    flow[n] = {count, count, 0};
    for (uint32_t r = n + 1; r-- > 0;) {
      const RowStage& reader = stages_[chain.first + r];
      for (int k = 0; k < reader.operand_count; ++k) {
        const RowOperandSpec& operand = reader.operands[k];
        if (operand.maker < static_cast<int32_t>(chain.first)) continue;
        Flow& made = flow[static_cast<uint32_t>(operand.maker) - chain.first];
        const Reach w = operand.windowed ? reader.window.*axis : Reach{};
        const int64_t begin = flow[r].end - flow[r].fresh;
        made.end = std::max(made.end, (flow[r].end - 1) * w.stride - w.pad + w.extent);
        made.keep = std::min(made.keep, begin * w.stride - w.pad);
        made.fresh = std::max(made.fresh, flow[r].fresh * w.stride);
      }
    }
  }

  // Of each stage's columns, what a part makes.
  void shares_of(const RowChain& chain, double (&share)[kMostChainStages]) const {
    const uint32_t n = chain.last - chain.first;
    for (uint32_t i = 0; i <= n; ++i) share[i] = 1;
    if (chain.parts == 1) return;
    Flow flow[kMostChainStages];
    const int64_t columns = stages_[chain.last].out_columns;
    flow_of(chain, &RowWindow::columns, (columns + chain.parts - 1) / chain.parts, flow);
    for (uint32_t i = 0; i <= n; ++i) {
      const int64_t all = stages_[chain.first + i].out_columns, part = flow[i].end - flow[i].keep;
      share[i] = std::min(1.0, static_cast<double>(part) / static_cast<double>(all));
    }
  }

  bool rate(RowChain& chain) const {
    Flow flow[kMostChainStages];
    double share[kMostChainStages];
    flow_of(chain, &RowWindow::rows, chain.band_rows, flow);
    shares_of(chain, share);
    const RowStage& result = stages_[chain.last];
    const int64_t band_count = (result.out_rows + chain.band_rows - 1) / chain.band_rows;
    const auto parts = static_cast<double>(chain.parts), bands = static_cast<double>(band_count) * parts;
    const uint32_t n = chain.last - chain.first;
    double saved = 0, halo = 0, weights = 0, slides = 0, work = 0, twice = 0;
    double live = static_cast<double>(result.row_bytes * chain.band_rows) * share[n];
    for (uint32_t i = 0; i <= n; ++i) {
      const RowStage& stage = stages_[chain.first + i];
      weights += static_cast<double>(stage.weight_bytes);
      work += stage.row_work / kWork * static_cast<double>(stage.out_rows);
      live += static_cast<double>(stage.weight_bytes);
      if (i == n) continue;
      const int64_t window = flow[i].end - flow[i].keep;
      const auto row_bytes = static_cast<double>(stage.row_bytes), rows = static_cast<double>(stage.out_rows);
      const double bytes = row_bytes * rows, row_time = stage.row_work / kWork + row_bytes / kNear;
      live += static_cast<double>(std::min(window, stage.out_rows)) * row_bytes * share[i];
      // It shares the cache with what the stage reads, and with what is made of it.
      if (bytes > static_cast<double>(limits_.l2_bytes) / 3) saved += 2 * bytes * (1 / kFar - 1 / kNear);
      const auto again = static_cast<double>(std::max<int64_t>(0, window - flow[i].fresh));
      halo += again * row_time;
      slides += again * row_bytes * share[i] / kNear;
      twice += (share[i] * parts - 1) * rows * row_time;
    }
    const double calls = bands * static_cast<double>(n + 1) * kCall;
    // All of the machine's threads save; the seams of strips cost each of them.
    const double seams = static_cast<double>(chain.strips - 1) * halo;
    const double images = static_cast<double>(result.images), idle = work * idle_share(chain, result);
    chain.gain_ns = images * (saved - calls - bands * (weights / kNear + slides) - seams - twice - idle);
    // Higher bands save calls and copies; where they fill the cache, rows come from beyond it.
    return live <= static_cast<double>(limits_.l2_bytes) * 7 / 8 || limits_.mode == RowChainMode::kAlways;
  }

  std::span<const RowStage> stages_;
  const RowLimits& limits_;
};

// How far a chain that begins at `first` may reach: stages in a row, each of which reads an earlier one of them.
uint32_t reach(std::span<const RowStage> stages, uint32_t first) {
  uint32_t end = first;
  while (end < stages.size() && end - first < kMostChainStages && stages[end].capable &&
         stages[end].images == stages[first].images) {
    bool linked = end == first;
    for (int k = 0; k < stages[end].operand_count; ++k)
      linked = linked || stages[end].operands[k].maker >= static_cast<int32_t>(first);
    if (!linked) break;
    ++end;
  }
  return end;
}

// Whether the results of [first, last) are read within [first, last] only.
bool closed(std::span<const RowStage> stages, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; ++i)
    if (stages[i].escapes || stages[i].last_reader < 0 || stages[i].last_reader > static_cast<int32_t>(last))
      return false;
  return true;
}

}  // namespace

Status choose_row_chains(std::span<const RowStage> stages, const RowLimits& limits, Vector<RowChain>& chains) {
  chains.clear();
  if (limits.mode == RowChainMode::kNever) return {};
  const auto n = static_cast<uint32_t>(stages.size());
  // best[e]: the largest gain of the stages before e, and the chain that ends there.
  struct Best {
    double gain = 0;
    RowChain chain;
    bool chained = false;
  };
  Vector<Best> best;
  MICA_TRY_STATUS(best.resize(n + 1));
  Chooser chooser(stages, limits);
  const bool always = limits.mode == RowChainMode::kAlways;
  Vector<uint32_t> reaches;
  for (uint32_t i = 0; i < n; ++i) MICA_TRY_STATUS(reaches.push_back(reach(stages, i)));
  for (uint32_t e = 1; e <= n; ++e) {
    best[e].gain = best[e - 1].gain;
    for (uint32_t first = e > kMostChainStages ? e - static_cast<uint32_t>(kMostChainStages) : 0; first + 1 < e;
         ++first) {
      RowChain chain;
      if (reaches[first] < e || !closed(stages, first, e - 1) || !chooser.consider(first, e - 1, chain)) continue;
      // Where chains are forced, every result that stays inside one counts.
      const double gain = always ? static_cast<double>(e - 1 - first) : chain.gain_ns;
      if ((!always && gain < kLeastGain) || best[first].gain + gain <= best[e].gain) continue;
      best[e] = {best[first].gain + gain, chain, true};
    }
  }
  for (uint32_t e = n; e > 0;) {
    if (best[e].chained) MICA_TRY_STATUS(chains.push_back(best[e].chain));
    e = best[e].chained ? best[e].chain.first : e - 1;
  }
  std::ranges::reverse(chains);
  return {};
}

size_t print(std::span<const RowStage> stages, const RowChain& chain, char* out, size_t size) {
  return format_to(out, size, "stages {}..{}: {} rows, {} at a time, {} strips of {} parts, gain {} us", chain.first,
                   chain.last, stages[chain.last].out_rows, chain.band_rows, chain.strips, chain.parts,
                   static_cast<int64_t>(chain.gain_ns / 1000));
}

namespace {

RowRange places_read(const Reach& w, int64_t size, RowRange out) {
  const int64_t begin = std::clamp<int64_t>(out.begin * w.stride - w.pad, 0, size - 1);
  return {begin, std::clamp<int64_t>((out.end - 1) * w.stride - w.pad + w.extent, begin + 1, size)};
}

}  // namespace

RowRange rows_read(const RowStage& stage, bool windowed, RowRange out) {
  return windowed ? places_read(stage.window.rows, stage.in_rows, out) : out;
}

RowRange columns_read(const RowStage& stage, bool windowed, RowRange out) {
  return windowed ? places_read(stage.window.columns, stage.in_columns, out) : out;
}

namespace {

// Calls f(maker, windowed) with each stage of the chain that stage r of it reads; both relative to its first.
template <class F>
void each_maker(std::span<const RowStage> chain, uint32_t first, uint32_t r, const F& f) {
  for (int k = 0; k < chain[r].operand_count; ++k) {
    const RowOperandSpec& operand = chain[r].operands[k];
    if (operand.maker >= static_cast<int32_t>(first)) f(static_cast<uint32_t>(operand.maker) - first, operand.windowed);
  }
}

// The places of every stage of the chain along an axis that `places` of the last one need. `reads`: rows_read or
// columns_read.
template <class Reads>
void find_wanted(std::span<const RowStage> chain, uint32_t first, RowRange places, const Reads& reads,
                 std::span<RowRange> wanted) {
  for (size_t i = 0; i + 1 < chain.size(); ++i) wanted[i] = {INT64_MAX, INT64_MIN};
  wanted[chain.size() - 1] = places;
  for (auto r = static_cast<uint32_t>(chain.size()); r-- > 0;)
    each_maker(chain, first, r, [&](uint32_t maker, bool windowed) {
      const RowRange read = reads(chain[r], windowed, wanted[r]);
      wanted[maker] = {std::min(wanted[maker].begin, read.begin), std::max(wanted[maker].end, read.end)};
    });
}

// Makes the actions of one strip, and finds how many rows each window needs on the way.
class Strip {
 public:
  Strip(std::span<const RowStage> stages, const RowChain& chain, RowSchedule& out)
      : stages_(stages.subspan(chain.first, chain.last - chain.first + 1)), chain_(chain), out_(out) {}

  // Without `act`, only the windows' sizes are found.
  Status run(RowRange strip, bool act) {
    const uint32_t last = chain_.last - chain_.first;
    wanted(strip);
    for (uint32_t i = 0; i <= last; ++i) state_[i] = {want_[i].begin, want_[i].begin};
    for (int64_t row = strip.begin; row < strip.end; row += chain_.band_rows) {
      const RowRange band{row, std::min(strip.end, row + chain_.band_rows)};
      wanted(band);
      for (uint32_t i = 0; i <= last; ++i) {
        const RowRange rows{state_[i].done, want_[i].end};
        if (rows.size() <= 0) continue;
        if (i < last) MICA_TRY_STATUS(make_room(i, rows, act));
        if (act) MICA_TRY_STATUS(out_.actions.push_back({i, false, rows}));
        state_[i].done = rows.end;
      }
    }
    return {};
  }

 private:
  struct State {
    int64_t done = 0;  // rows before it are made
    int64_t base = 0;  // the row at the window's front
  };

  void wanted(RowRange rows) { find_wanted(stages_, chain_.first, rows, rows_read, want_); }

  // The first row of stage i that somebody still reads.
  int64_t first_needed(uint32_t i) const {
    int64_t keep = state_[i].done;
    for (uint32_t r = i + 1; r < stages_.size(); ++r)
      each_maker(stages_, chain_.first, r, [&](uint32_t maker, bool windowed) {
        if (maker != i) return;
        const int64_t next = std::min(state_[r].done, stages_[r].out_rows - 1);
        keep = std::min(keep, rows_read(stages_[r], windowed, {next, next + 1}).begin);
      });
    return keep;
  }

  Status make_room(uint32_t i, RowRange rows, bool act) {
    const int64_t keep = std::max(first_needed(i), state_[i].base);
    if (!act) {
      out_.window_rows[i] = std::max(out_.window_rows[i], rows.end - keep);
      return {};
    }
    if (rows.end - state_[i].base <= out_.window_rows[i]) return {};
    state_[i].base = keep;
    return out_.actions.push_back({i, true, {keep, rows.begin}});
  }

  std::span<const RowStage> stages_;
  const RowChain& chain_;
  RowSchedule& out_;
  RowRange want_[kMostChainStages];
  State state_[kMostChainStages];
};

}  // namespace

void columns_of_part(std::span<const RowStage> stages, const RowChain& chain, int64_t part, std::span<RowRange> made) {
  const int64_t columns = stages[chain.last].out_columns;
  const RowRange places{columns * part / chain.parts, columns * (part + 1) / chain.parts};
  find_wanted(stages.subspan(chain.first, chain.last - chain.first + 1), chain.first, places, columns_read, made);
}

Status schedule_rows(std::span<const RowStage> stages, const RowChain& chain, RowSchedule& schedule) {
  schedule.actions.clear();
  schedule.strip_begin.clear();
  schedule.window_rows.clear();
  MICA_TRY_STATUS(schedule.window_rows.resize(chain.last - chain.first));
  const int64_t rows = stages[chain.last].out_rows;
  Strip strip(stages, chain, schedule);
  const auto range = [&](int64_t s) { return RowRange{rows * s / chain.strips, rows * (s + 1) / chain.strips}; };
  for (int64_t s = 0; s < chain.strips; ++s) MICA_TRY_STATUS(strip.run(range(s), false));
  for (int64_t s = 0; s < chain.strips; ++s) {
    MICA_TRY_STATUS(schedule.strip_begin.push_back(static_cast<uint32_t>(schedule.actions.size())));
    MICA_TRY_STATUS(strip.run(range(s), true));
  }
  return schedule.strip_begin.push_back(static_cast<uint32_t>(schedule.actions.size()));
}

}  // namespace mica
