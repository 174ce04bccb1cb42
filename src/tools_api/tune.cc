// Measuring algorithms through the tools library's door.
#include "measure/tune.h"

#include <memory>

#include "api/session_handle.h"
#include "base/file.h"
#include "mica/tools.hpp"
#include "tools_api/options.h"

namespace mica::tools {
namespace {

bool looks_like_tuning(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(kTuningTitle.substr(0, kTuningTitle.rfind(' ')));  // of any version
}

// What the file holds for this machine; nothing when it is not there, damaged or of another machine. A file of
// something else is not written over: it may be the model.
Result<Tuning> known_choices(const std::string& path, const mica::Machine& machine) {
  if (path.empty()) return Tuning();
  auto text = mica::read_file(path, kMostTuningBytes);
  if (!text.ok() && text.error().code() != Code::kLimit) return Tuning();
  const bool ours = text.ok() && (text->empty() || looks_like_tuning(*text));
  MICA_CHECK(ours, kUsage, "`{}` holds something else than measured choices, and is left alone", path);
  auto tuning = Tuning::parse(text.take());
  if (!tuning.ok() || !tuning->mismatch(machine).empty()) return Tuning();
  return tuning;
}

TunedProblem public_problem(const mica::TunedProblem& p) {
  TunedProblem made{p.problem, p.stages, {}, p.best};
  for (const auto& c : p.candidates) made.candidates.push_back({c.algorithm, c.predicted_kcycles, c.ms});
  return made;
}

Error taken(mica_error* given) {
  const std::unique_ptr<mica_error, void (*)(mica_error*)> owner(given, mica_error_free);
  return Error(static_cast<Code>(mica_error_code(given)), mica_error_what(given), mica_error_where(given),
               mica_error_hint(given));
}

Status run_tune(mica_model* model, const TuneOptions& options, TuneReport& report) {
  MICA_CHECK(model && options.feed, kUsage, "measuring algorithms needs a model and what sets a session's inputs");
  MICA_TRY_STATUS(check_seconds(options.seconds));
  using Free = void (*)(mica_session*);
  std::vector<std::unique_ptr<mica_session, Free>> sessions;
  MICA_TRY(const Tuning known, known_choices(options.path, model->context->core.machine));
  mica::TuneOptions inner;
  inner.seconds = options.seconds;
  inner.progress = options.progress;
  inner.known = &known;
  inner.make = [&](RowChainMode chains) -> Result<Session*> {
    mica_session_options how = MICA_INIT(mica_session_options);
    how.row_chains = chains == RowChainMode::kNever ? -1 : 0;
    mica_session* session = nullptr;
    if (mica_error* failed = mica_session_create(model, &how, &session)) return taken(failed);
    sessions.emplace_back(session, mica_session_free);
    options.feed(session);
    return session->core;
  };
  MICA_TRY(const TuneResult result, mica::tune(inner));
  report = {{}, result.turns, result.before_ms, result.after_ms, result.kept};
  for (const mica::TunedProblem& p : result.problems) report.problems.push_back(public_problem(p));
  if (options.path.empty()) return {};
  return mica::write_file(options.path, std::as_bytes(std::span(result.text.data(), result.text.size())));
}

}  // namespace

mica_error* tune(mica_model* model, const TuneOptions& options, TuneReport& report) {
  return give(run_tune(model, options, report));
}

}  // namespace mica::tools
