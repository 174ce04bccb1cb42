// mica tune: measures the algorithms that bind chooses from, and keeps where another one than the predicted is faster.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "inputs.h"
#include "table.h"
#include "verbs.h"

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TuneFlags {
  ModelFlags model;
  InputFlags input;
  double seconds = 1;
  std::string out, format;
};

Json json_of(const TuneFlags& flags, const tools::TuneReport& report) {
  Json made = {
      {"model", flags.model.path},     {"file", flags.out},           {"turns", report.turns},    {"kept", report.kept},
      {"before_ms", report.before_ms}, {"after_ms", report.after_ms}, {"problems", Json::array()}};
  for (const tools::TunedProblem& p : report.problems) {
    Json candidates = Json::array();
    for (const auto& c : p.candidates)
      candidates.push_back({{"algorithm", c.algorithm}, {"predicted_kcycles", c.predicted_kcycles}, {"ms", c.ms}});
    made["problems"].push_back({{"problem", p.problem},
                                {"stages", p.stages},
                                {"predicted", p.candidates.front().algorithm},
                                {"best", p.candidates[p.best].algorithm},
                                {"candidates", candidates}});
  }
  return made;
}

// The problems that had a choice.
std::string table_of(const tools::TuneReport& report, const std::string& format) {
  Table table;
  table.column("stages", Table::Align::kRight);
  for (const char* title : {"problem", "predicted", "fastest"}) table.column(title);
  table.column("time", Table::Align::kRight);
  table.column("measured (predicted)");
  for (const tools::TunedProblem& p : report.problems) {
    if (p.candidates.size() < 2) continue;
    const auto& first = p.candidates.front();
    std::string all;
    for (const auto& c : p.candidates)
      all += fmt::format("{}{} {:.3f} ms ({:.0f} kcycles)", all.empty() ? "" : ", ", c.algorithm, c.ms,
                         c.predicted_kcycles);
    const double share = first.ms > 0 ? p.candidates[p.best].ms / first.ms : 1;
    table.row({std::to_string(p.stages), p.problem, first.algorithm, p.candidates[p.best].algorithm,
               fmt::format("{:.0f} %", share * 100), all});
  }
  return table.text(format);
}

std::string summary(const TuneFlags& flags, const tools::TuneReport& report) {
  size_t choice = 0, changed = 0;
  for (const tools::TunedProblem& p : report.problems) choice += p.candidates.size() > 1, changed += p.best > 0;
  std::string text =
      fmt::format("{} problems of {} have a choice; another algorithm than the predicted is faster for {}", choice,
                  report.problems.size(), changed);
  if (changed)
    text += fmt::format(": {:.3f} ms a run instead of {:.3f} (processor time of one thread){}", report.after_ms,
                        report.before_ms, report.kept ? "" : ", which is slower, so that none is written");
  return fmt::format("{}\nwrote {}", text, flags.out);
}

int run(TuneFlags flags) {
  if (flags.out.empty()) flags.out = flags.model.path + ".tune";
  set_written({flags.out});
  flags.model.threads = 1;
  flags.model.tuning = "none";
  const Context context = flags.model.context();
  const Model model = flags.model.load(context);
  const Feed feed = make_feed(model, flags.input);
  tools::TuneReport report;
  {
    Progress progress("measuring");
    tools::TuneOptions options;
    options.seconds = flags.seconds;
    options.path = flags.out;
    options.feed = [&](mica_session* session) { feed.set(session); };
    options.progress = [&](double share) { progress.update(share); };
    check(tools::tune(model.get(), options, report));
  }
  if (flags.format == "json")
    put("{}\n", json_of(flags, report).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    put("{}", table_of(report, flags.format));
  say(summary(flags, report));
  return kOk;
}

}  // namespace

std::function<int()> add_tune(Words& words) {
  auto flags = std::make_shared<TuneFlags>();
  flags->model.add(words, false);
  flags->input.add(words, false);
  words.option("-o,--out", flags->out, "the file of choices; MODEL.tune, which is used whenever the model is loaded")
      .not_empty();
  words.option("--seconds", flags->seconds, "of measured runs; five of each choice at least")
      .between(0, 3600)
      .shows_default();
  words.format(flags->format, {"table", "json", "csv", "md"});
  return [flags] { return run(*flags); };
}

}  // namespace mica::cli
