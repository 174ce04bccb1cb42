#include "measure/bench.h"

#include <algorithm>
#include <cmath>

#include "base/os.h"
#include "measure/cost.h"
#include "measure/first_states.h"

namespace mica {
namespace {

constexpr int64_t kMostRuns = 1000000;

double ms(int64_t ns) { return static_cast<double>(ns) * 1e-6; }

double median(std::vector<int64_t> list) {
  if (list.empty()) return 0;
  std::ranges::sort(list);
  const size_t half = list.size() / 2;
  return list.size() % 2 ? ms(list[half]) : 0.5 * (ms(list[half - 1]) + ms(list[half]));
}

Result<int64_t> timed_run(Session& session, const FirstStates& states) {
  MICA_TRY_STATUS(states.put_back());
  const int64_t begin = now_ns();
  MICA_TRY_STATUS(session.run());
  return now_ns() - begin;
}

// Stages as the runner reports them, over several runs.
struct Recorder {
  struct Entry {
    LayerTime layer;
    uint32_t stage = 0, first_stage = 0;
    std::vector<int64_t> times;
  };
  std::vector<Entry> entries;  // a stage comes once in a run, in the same order in each
  size_t next = 0;
  int64_t begin = 0;

  static bool on_stage(void* user, const StageEvent& event) {
    auto& self = *static_cast<Recorder*>(user);
    if (self.next == self.entries.size()) {
      self.entries.push_back({{std::string(event.name), std::string(event.op), std::string(event.kernel)},
                              event.stage,
                              event.first_stage,
                              {}});
      self.entries.back().layer.begin_ns = event.begin_ns - self.begin;
    }
    Entry& entry = self.entries[self.next++];
    entry.times.push_back(event.end_ns - event.begin_ns);
    return true;
  }
};

Status add_costs(Session& session, std::vector<LayerTime>& layers, const std::vector<Recorder::Entry>& entries) {
  MICA_TRY(const std::vector<StageCost> costs, stage_costs(session));
  for (size_t i = 0; i < layers.size(); ++i) {
    for (uint32_t stage = entries[i].first_stage; stage <= entries[i].stage && stage < costs.size(); ++stage) {
      layers[i].flops += costs[stage].flops;
      layers[i].bytes += costs[stage].bytes;
      layers[i].constant_bytes += costs[stage].constant_bytes;
      layers[i].bytes_product = costs[stage].bytes_product;
    }
  }
  return {};
}

void fill_statistics(const std::vector<int64_t>& times, BenchResult& result) {
  std::vector<int64_t> sorted = times;
  std::ranges::sort(sorted);
  result.runs = static_cast<int64_t>(sorted.size());
  result.median_ms = median(sorted);
  result.min_ms = ms(sorted.front());
  // The least time that nine of ten runs do not exceed.
  result.p90_ms = ms(sorted[(sorted.size() * 9 + 9) / 10 - 1]);
  double sum = 0, squares = 0;
  for (int64_t t : sorted) sum += ms(t);
  result.mean_ms = sum / static_cast<double>(sorted.size());
  for (int64_t t : sorted) squares += (ms(t) - result.mean_ms) * (ms(t) - result.mean_ms);
  result.deviation_ms = std::sqrt(squares / static_cast<double>(sorted.size()));
}

}  // namespace

Result<std::vector<LayerTime>> profile(Session& session, int64_t runs) {
  MICA_TRY(const FirstStates states, FirstStates::of(session));
  MICA_TRY_STATUS(session.run());
  Recorder recorder;
  session.runner().set_stage_callback(Recorder::on_stage, &recorder, false);
  Status status;
  for (int64_t i = 0; i < runs && status.ok(); ++i) {
    recorder.next = 0;
    status = states.put_back();
    recorder.begin = now_ns();
    if (status.ok()) status = session.run();
  }
  session.runner().set_stage_callback(nullptr, nullptr);
  MICA_TRY_STATUS(std::move(status));
  std::vector<LayerTime> layers;
  double sum = 0;
  for (const Recorder::Entry& entry : recorder.entries) {
    layers.push_back(entry.layer);
    layers.back().ms = median(entry.times);
    layers.back().min_ms = ms(std::ranges::min(entry.times));
    sum += layers.back().ms;
  }
  for (LayerTime& layer : layers) layer.share = sum > 0 ? layer.ms / sum : 0;
  MICA_TRY_STATUS(add_costs(session, layers, recorder.entries));
  MICA_TRY_STATUS(states.put_back());
  return layers;
}

Result<BenchResult> bench(Session& session, const BenchOptions& options) {
  BenchResult result;
  MICA_TRY(const FirstStates states, FirstStates::of(session));
  MICA_TRY(const int64_t first, timed_run(session, states));
  result.first_ms = ms(first);
  const auto limit = static_cast<int64_t>(std::clamp(options.seconds, 0.0, 1e6) * 1e9);
  int64_t warm = 0;
  for (const int64_t begin = now_ns(); warm < options.warm_runs || now_ns() - begin < limit / 10; ++warm) {
    if (options.progress) options.progress(0);
    MICA_TRY_STATUS(states.put_back());
    MICA_TRY_STATUS(session.run());
  }
  std::vector<int64_t> times;
  for (const int64_t begin = now_ns();;) {
    const auto runs = static_cast<int64_t>(times.size());
    const int64_t spent = now_ns() - begin;
    if (options.progress)
      options.progress(limit ? std::min(1.0, static_cast<double>(spent) / static_cast<double>(limit)) : 1);
    if ((spent >= limit && runs >= std::max<int64_t>(options.least_runs, 1)) || runs >= kMostRuns) break;
    MICA_TRY(const int64_t time, timed_run(session, states));
    times.push_back(time);
  }
  MICA_TRY_STATUS(states.put_back());
  fill_statistics(times, result);
  if (!options.layers) return result;
  MICA_TRY(result.layers, profile(session, std::clamp<int64_t>(result.runs / 4, 3, 50)));
  for (const LayerTime& layer : result.layers) result.flops += layer.flops;
  return result;
}

}  // namespace mica
