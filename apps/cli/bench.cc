// mica bench: how long runs take.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "ceilings.h"
#include "inputs.h"
#include "start.h"
#include "table.h"
#include "verbs.h"

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BenchFlags {
  ModelFlags model;
  InputFlags input;
  double seconds = 2;
  int64_t warm_runs = 0;
  bool layers = false, explain = false, start = false;
  std::string format, trace, force;
};

struct Numbers {
  tools::BenchReport report;
  tools::MachinePeak peak;
  mica_memory memory = MICA_INIT(mica_memory);
  double load_ms = 0, peak_rss_mb = 0;
  int threads = 0;
  std::string isa;
};

double gflops_of(const tools::LayerTime& layer) {
  return layer.ms > 0 ? static_cast<double>(layer.flops) / layer.ms * 1e-6 : 0;
}

double peak_share_of(const tools::LayerTime& layer, const tools::MachinePeak& peak) {
  return peak.flops_all > 0 ? gflops_of(layer) * 1e9 / peak.flops_all : 0;
}

Json json_of(const BenchFlags& flags, const Numbers& n) {
  Json made = {{"model", flags.model.path},
               {"median_ms", n.report.median_ms},
               {"min_ms", n.report.min_ms},
               {"p90_ms", n.report.p90_ms},
               {"mean_ms", n.report.mean_ms},
               {"deviation_ms", n.report.deviation_ms},
               {"load_ms", n.load_ms},
               {"first_ms", n.report.first_ms},
               {"peak_rss_mb", n.peak_rss_mb},
               {"arena_bytes", n.memory.arena},
               {"runs", n.report.runs},
               {"threads", n.threads},
               {"isa", n.isa}};
  if (!flags.layers) return made;
  made["peak_gflops"] = n.peak.flops_all * 1e-9;
  made["peak_gbytes"] = n.peak.bytes_all * 1e-9;
  made["ceilings"] = ceilings_json(n.peak);
  made["stages"] = Json::array();
  const std::vector<double> least = tools::roofline_ms(n.report.layers, n.peak);
  for (size_t i = 0; i < least.size(); ++i) {
    const tools::LayerTime& layer = n.report.layers[i];
    made["stages"].push_back({{"name", layer.name},
                              {"op", layer.op},
                              {"kernel", layer.kernel},
                              {"ms", layer.ms},
                              {"min_ms", layer.min_ms},
                              {"share", layer.share},
                              {"gflops", gflops_of(layer)},
                              {"peak_share", peak_share_of(layer, n.peak)},
                              {"roofline_share", layer.ms > 0 ? least[i] / layer.ms : 0}});
  }
  return made;
}

std::string summary(const Numbers& n, const std::string& format) {
  Table table;
  using A = Table::Align;
  for (const char* title : {"median ms", "min ms", "p90 ms", "deviation", "first ms", "load ms", "runs", "threads"})
    table.column(title, A::kRight);
  table.column("isa");
  table.column("arena", A::kRight);
  table.column("peak memory", A::kRight);
  const tools::BenchReport& r = n.report;
  table.row({fmt::format("{:.3f}", r.median_ms), fmt::format("{:.3f}", r.min_ms), fmt::format("{:.3f}", r.p90_ms),
             fmt::format("{:.3f}", r.deviation_ms), fmt::format("{:.3f}", r.first_ms), fmt::format("{:.1f}", n.load_ms),
             std::to_string(r.runs), std::to_string(n.threads), n.isa, bytes_text(static_cast<double>(n.memory.arena)),
             fmt::format("{:.1f} MiB", n.peak_rss_mb)});
  return table.text(format);
}

std::string layers(const Numbers& n, const std::string& format) {
  Table table;
  using A = Table::Align;
  table.column("ms", A::kRight), table.column("share", A::kRight), table.column("GFLOP/s", A::kRight);
  table.column("of peak", A::kRight), table.column("of roofline", A::kRight);
  table.column("op"), table.column("kernel"), table.column("name");
  const auto percent = [](double share) { return fmt::format("{:.1f} %", share * 100); };
  double sum = 0, least_sum = 0;
  const std::vector<double> least = tools::roofline_ms(n.report.layers, n.peak);
  for (size_t i = 0; i < least.size(); ++i) {
    const tools::LayerTime& layer = n.report.layers[i];
    sum += layer.ms, least_sum += least[i];
    table.row({fmt::format("{:.4f}", layer.ms), percent(layer.share), fmt::format("{:.1f}", gflops_of(layer)),
               percent(peak_share_of(layer, n.peak)), percent(layer.ms > 0 ? least[i] / layer.ms : 0), layer.op,
               layer.kernel.empty() ? "(reference)" : layer.kernel, layer.name});
  }
  const double gflops = sum > 0 ? static_cast<double>(n.report.flops) / sum * 1e-6 : 0;
  table.row({fmt::format("{:.4f}", sum), percent(1), fmt::format("{:.1f}", gflops),
             percent(gflops * 1e9 / std::max(n.peak.flops_all, 1.0)), percent(sum > 0 ? least_sum / sum : 0), "", "",
             "sum"});
  return table.text(format);
}

std::string ceilings(const Numbers& n, const std::string& format) {
  Table table;
  table.column("ceiling"), table.column("measured");
  add_ceilings(table, n.peak);
  return table.text(format);
}

Json explanation_json(const BenchFlags& flags, const std::vector<tools::StageChoice>& choices) {
  Json made = {{"model", flags.model.path}, {"stages", Json::array()}};
  for (const tools::StageChoice& c : choices) {
    Json stage = {{"name", c.name}, {"op", c.op}, {"kernel", c.kernel}, {"choice", c.choice}, {"tuned", c.is_tuned}};
    if (!flags.force.empty()) stage["can_force"] = c.can_force, stage["forced"] = c.is_forced;
    made["stages"].push_back(std::move(stage));
  }
  return made;
}

// The stages' algorithms instead of their times.
int explain(const BenchFlags& flags, const Session& session) {
  std::vector<tools::StageChoice> choices;
  check(tools::explain(session.get(), choices));
  Table table;
  for (const char* title : {"op", "kernel", "name", "choice"}) table.column(title);
  int64_t can = 0, does = 0, tuned = 0;
  for (const tools::StageChoice& c : choices) {
    table.row({c.op, c.kernel, c.name, c.is_tuned ? c.choice + ". Measured: `mica tune`" : c.choice});
    can += c.can_force, does += c.is_forced, tuned += c.is_tuned;
  }
  if (flags.format == "json")
    put("{}\n", explanation_json(flags, choices).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    put("{}", table.text(flags.format));
  if (tuned) say(fmt::format("{} of {} stages by measured choices", tuned, choices.size()));
  if (!flags.force.empty()) say(fmt::format("{}: can do {} stages, does {}", flags.force, can, does));
  return kOk;
}

int run(const BenchFlags& flags) {
  if (!flags.force.empty()) ::setenv("MICA_FORCE", flags.force.c_str(), 1);
  if (flags.start) return measure_start(flags.model, flags.input, flags.format);
  if (!flags.trace.empty()) set_written({flags.trace});
  const Context context = flags.model.context();
  Numbers n;
  const auto begin = std::chrono::steady_clock::now();
  const Model model = flags.model.load(context);
  n.load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const Feed feed = make_feed(model, flags.input);
  Session session = take(model.session(flags.model.session_options()));
  feed.set(session);
  if (flags.explain) return explain(flags, session);
  n.threads = context.threads();
  n.isa = context.isa();
  {
    Progress progress("measuring");
    tools::BenchOptions options;
    options.seconds = flags.seconds;
    options.warm_runs = flags.warm_runs;
    options.layers = flags.layers;
    options.progress = [&](double share) { progress.update(share); };
    check(tools::bench(session.get(), options, n.report));
  }
  n.memory = take(session.memory());
  n.peak_rss_mb = static_cast<double>(tools::peak_rss_bytes()) / (1 << 20);  // before the peak's own buffers
  if (!flags.trace.empty()) {
    std::vector<tools::LayerTime> stages;
    check(tools::profile(session.get(), stages));
    write_file(flags.trace, tools::trace_json(stages, flags.model.path));
  }
  if (flags.layers) check(tools::measure_peak(context.get(), n.peak, n.report.layers));
  if (flags.format == "json") {
    put("{}\n", json_of(flags, n).dump(2, ' ', false, Json::error_handler_t::replace));
    return kOk;
  }
  if (flags.layers) put("{}\n", layers(n, flags.format));
  if (!flags.layers || flags.format != "csv") put("{}", summary(n, flags.format));
  if (flags.layers && flags.format != "csv") put("\n{}", ceilings(n, flags.format));
  return kOk;
}

}  // namespace

std::function<int()> add_bench(Words& words) {
  auto flags = std::make_shared<BenchFlags>();
  flags->model.add(words);
  flags->input.add(words, false);
  words.option("--seconds", flags->seconds, "of timed runs").between(0, 3600).shows_default();
  words.option("--warm-up", flags->warm_runs, "at least so many runs before the timed ones").between(0, 1000000);
  const Word layers =
      words.flag("--layers", flags->layers, "time, kernel, GFLOP/s and share of the peak of every stage");
  Word explain =
      words.flag("--explain", flags->explain,
                 "the algorithm of each convolution and product, and what the others would cost, instead of times");
  Word start =
      words.flag("--start", flags->start,
                 "load, first run and peak memory, in a process of its own for each way of using memory, instead");
  words.option("--force", flags->force, "take this algorithm wherever it fits")
      .one_of({"implicit", "pointwise", "depthwise", "grouped", "spread", "filter", "winograd", "winograd4",
               "winograd6", "winograd8", "strassen", "paired"});
  const Word trace =
      words.option("--trace", flags->trace, "write the stages of one run as JSON for Perfetto").not_empty();
  explain.excludes(layers).excludes(trace);
  start.excludes(layers).excludes(trace).excludes(explain);
  words.format(flags->format, {"table", "json", "csv", "md"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
