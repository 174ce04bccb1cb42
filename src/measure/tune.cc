#include "measure/tune.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>

#include "base/os.h"
#include "base/threads.h"
#include "base/version.h"
#include "measure/first_states.h"
#include "ops/conv/conv_step.h"

namespace mica {
namespace {

constexpr double kMostOfBest = 2;       // predicted cycles beyond which a candidate is not measured
constexpr double kClearly = 0.95;       // of the predicted one's time, for another one to be taken,
constexpr double kShareOfTurns = 0.75;  // and so many turns that it has to win
constexpr double kSlower = 1.01;        // of a run without the choices, and as many turns: then they are given up
constexpr double kWorthALine = 1e-3;    // of a run, that a problem's stages gain together
constexpr int64_t kLeastTurns = 5;
constexpr double kCheckShare = 0.25;  // of the time, for whole runs with and without the choices

// "family problem" → algorithm, remark.
using Choices = std::map<std::string, std::pair<std::string, std::string>>;

std::string line_key(std::string_view family, std::string_view problem) {
  return std::string(family) + " " + std::string(problem);
}

double median(std::vector<double> list) {
  if (list.empty()) return 0;
  std::ranges::sort(list);
  const size_t half = list.size() / 2;
  return list.size() % 2 ? list[half] : 0.5 * (list[half - 1] + list[half]);
}

std::string text_of(const Machine& machine, const Choices& choices) {
  std::string text = std::string(kTuningTitle) + "\nversion " + std::string(kVersion) + "\nprocessor " +
                     std::string(machine.model.view()) + "\nisa " + std::string(name_of(machine.isa)) + "\nl2 " +
                     std::to_string(machine.l2) + "\n";
  for (const auto& [key, choice] : choices)
    text += key + " " + choice.first + (choice.second.empty() ? "" : "    # " + choice.second) + "\n";
  return text + "end " + std::to_string(choices.size()) + "\n";
}

Result<Tuning> table_of(const std::string& text) {
  Vector<std::byte> bytes;
  MICA_TRY_STATUS(bytes.append(std::as_bytes(std::span(text.data(), text.size()))));
  return Tuning::parse(std::move(bytes));
}

const conv::ConvStep* conv_of(const Session& session, const BoundStep& step) {
  if (step.kernel != conv::run_step || step.first_stage != step.stage) return nullptr;
  if (session.model().plan().functions[0].stages[step.stage].op->name != conv::kTuningFamily) return nullptr;
  return static_cast<const conv::ConvStep*>(step.arguments);
}

std::string size_key(const ConvProblem& p) {
  char key[kConvKeySize];
  return {key, print_key(p, key, sizeof key)};
}

// A session with choices of its own, whose convolutions are timed.
struct Entrant {
  explicit Entrant(Tuning choices) : table(std::move(choices)) {}
  Session* session = nullptr;
  std::optional<FirstStates> states;  // every run begins from them
  Tuning table;
  std::map<uint32_t, size_t> problem_of;  // by stage: those that run the algorithm wanted
  std::vector<int64_t> stages;            // and how many they are, by problem
  std::vector<double> sum;                // of the turn under way, by problem
  std::vector<std::vector<double>> ms;    // of one stage, by problem and turn
  std::vector<double> run_ms;             // by turn
  int64_t last_ns = 0;

  static bool on_stage(void* user, const StageEvent& event) {
    auto& self = *static_cast<Entrant*>(user);
    const int64_t now = thread_cpu_ns();
    if (const auto at = self.problem_of.find(event.stage); at != self.problem_of.end())
      self.sum[at->second] += static_cast<double>(now - self.last_ns) * 1e-6;
    self.last_ns = thread_cpu_ns();
    return true;
  }
};

class Tuner {
 public:
  explicit Tuner(const TuneOptions& options) : options_(options) {}

  Result<TuneResult> run() {
    MICA_TRY(Entrant* const first, enter(Choices(), RowChainMode::kNever));
    racers_.push_back(first);
    MICA_TRY_STATUS(find_problems(*first->session));
    size_t most = 1;
    for (const TunedProblem& p : result_.problems) most = std::max(most, p.candidates.size());
    for (size_t k = 1; k < most; ++k) {
      Choices choices;
      for (const TunedProblem& p : result_.problems)
        if (k < p.candidates.size()) choices[key_of(p)] = {p.candidates[k].algorithm, ""};
      MICA_TRY(Entrant* const racer, enter(choices, RowChainMode::kNever));
      racers_.push_back(racer);
    }
    for (size_t k = 0; k < racers_.size(); ++k) watch(*racers_[k], k);
    if (most > 1) MICA_TRY_STATUS(take_turns());
    MICA_TRY_STATUS(decide());
    return std::move(result_);
  }

 private:
  static std::string key_of(const TunedProblem& p) { return line_key(conv::kTuningFamily, p.problem); }

  // A session with its first run behind it.
  Result<Entrant*> enter(const Choices& choices, RowChainMode chains) {
    MICA_TRY(Session * session, options_.make(chains));
    const Context& context = session->model().context();
    MICA_CHECK(!context.threads || context.threads->concurrency() == 1, kUsage,
               "measuring algorithms needs a context of one thread: their processor time is what counts");
    MICA_CHECK(context.machine.force.empty(), kUsage, "MICA_FORCE decides what algorithms there are to measure");
    machine_ = &context.machine;
    MICA_TRY(Tuning table, table_of(text_of(*machine_, choices)));
    Entrant& made = all_.emplace_back(std::move(table));
    made.session = session;
    session->runner().set_tuning(&made.table);
    MICA_TRY(made.states, FirstStates::of(*session));
    MICA_TRY_STATUS(session->run());
    return &made;
  }

  // Stages that run by rows, with others: an algorithm that cannot do so would end that, and is no candidate there.
  Result<std::vector<bool>> chained_stages(size_t count) {
    MICA_TRY(before_, enter(Choices(), RowChainMode::kChoose));
    std::vector<bool> made(count);
    if (const BoundSegment* segment = before_->session->runner().last_segment())
      for (const BoundStep& step : segment->steps)
        for (uint32_t s = step.first_stage; step.first_stage != step.stage && s <= step.stage; ++s) made[s] = true;
    return made;
  }

  Status find_problems(Session& session) {
    MICA_TRY(const std::vector<bool> chained, chained_stages(session.model().plan().functions[0].stages.size()));
    const BoundSegment* segment = session.runner().last_segment();
    if (!segment) return {};
    std::map<std::string, size_t> known;
    for (const BoundStep& step : segment->steps) {
      const conv::ConvStep* made = conv_of(session, step);
      if (!made) continue;
      const auto [at, fresh] = known.try_emplace(size_key(made->args.problem), result_.problems.size());
      if (fresh) result_.problems.push_back(problem_of(*made, at->first));
      TunedProblem& problem = result_.problems[at->second];
      ++problem.stages;
      if (chained[step.stage])
        std::erase_if(problem.candidates,
                      [](const TunedProblem::Candidate& c) { return is_winograd(conv_algorithm(c.algorithm)); });
    }
    return {};
  }

  static TunedProblem problem_of(const conv::ConvStep& step, const std::string& key) {
    TunedProblem made;
    made.problem = key;
    const ConvAlgorithm predicted = step.args.choice.algorithm;
    const ConvCandidates all = conv_candidates(step.args.problem, step.isa, step.limits, step.policy);
    double best = 0;
    for (const ConvCandidate& c : all.list)
      if (c.algorithm == predicted) best = c.cycles;
    for (const ConvCandidate& c : all.list)
      if (c.algorithm == predicted || (is_unasked(c, {}) && c.cycles <= kMostOfBest * best))
        made.candidates.push_back({std::string(name_of(c.algorithm)), c.cycles / 1e3, 0});
    std::ranges::stable_sort(made.candidates, [&](const auto& a, const auto& b) {
      const bool first = a.algorithm == name_of(predicted), second = b.algorithm == name_of(predicted);
      return first != second ? first : a.predicted_kcycles < b.predicted_kcycles;
    });
    return made;
  }

  // Which stages of entrant k tell of the k-th candidate of a problem: those that are bound to it.
  void watch(Entrant& entrant, size_t k) {
    const size_t count = result_.problems.size();
    entrant.sum.resize(count), entrant.stages.resize(count), entrant.ms.resize(count);
    const BoundSegment* segment = entrant.session->runner().last_segment();
    if (!segment) return;
    for (const BoundStep& step : segment->steps) {
      const conv::ConvStep* made = conv_of(*entrant.session, step);
      if (!made) continue;
      const std::string key = size_key(made->args.problem);
      for (size_t i = 0; i < count; ++i) {
        const TunedProblem& p = result_.problems[i];
        if (p.problem != key || p.candidates.size() < 2 || k >= p.candidates.size()) continue;
        if (name_of(made->args.choice.algorithm) != p.candidates[k].algorithm) continue;
        entrant.problem_of[step.stage] = i;
        ++entrant.stages[i];
      }
    }
  }

  Status take_turn(Entrant& entrant) {
    std::ranges::fill(entrant.sum, 0.0);
    MICA_TRY_STATUS(entrant.states->put_back());
    entrant.session->runner().set_stage_callback(Entrant::on_stage, &entrant, false);
    const int64_t begin = entrant.last_ns = thread_cpu_ns();
    Status status = entrant.session->run();
    entrant.run_ms.push_back(static_cast<double>(thread_cpu_ns() - begin) * 1e-6);
    entrant.session->runner().set_stage_callback(nullptr, nullptr);
    for (size_t i = 0; i < entrant.sum.size(); ++i)
      if (entrant.stages[i]) entrant.ms[i].push_back(entrant.sum[i] / static_cast<double>(entrant.stages[i]));
    return status;
  }

  // Forth and back, so that nobody always comes behind the same one.
  Status take_turns() {
    const int64_t begin = now_ns();
    const double seconds = options_.seconds * (1 - kCheckShare);
    for (; result_.turns < kLeastTurns || seconds_since(begin) < seconds; ++result_.turns) {
      for (size_t k = 0; k < racers_.size(); ++k)
        MICA_TRY_STATUS(take_turn(*racers_[result_.turns % 2 ? racers_.size() - 1 - k : k]));
      if (options_.progress && seconds > 0) options_.progress(std::min(1.0, seconds_since(begin) / seconds));
    }
    return {};
  }

  static double seconds_since(int64_t begin) { return static_cast<double>(now_ns() - begin) * 1e-9; }

  // Whether the k-th candidate of problem i is so much faster than the first that it is worth a line.
  bool is_clearly_faster(size_t k, size_t i) const {
    const std::vector<double>&a = racers_[k]->ms[i], &b = racers_.front()->ms[i];
    if (a.size() != b.size() || a.empty() || median(a) >= kClearly * median(b)) return false;
    const double gain = (median(b) - median(a)) * static_cast<double>(result_.problems[i].stages);
    if (gain < kWorthALine * median(racers_.front()->run_ms)) return false;
    int64_t wins = 0;
    for (size_t turn = 0; turn < a.size(); ++turn) wins += a[turn] < b[turn];
    return static_cast<double>(wins) >= kShareOfTurns * static_cast<double>(a.size());
  }

  Status decide() {
    Choices choices;
    for (size_t i = 0; i < result_.problems.size(); ++i) {
      TunedProblem& p = result_.problems[i];
      if (p.candidates.size() < 2) continue;
      for (size_t k = 0; k < p.candidates.size(); ++k) {
        p.candidates[k].ms = median(racers_[k]->ms[i]);
        if (k > 0 && is_clearly_faster(k, i) && (p.best == 0 || p.candidates[k].ms < p.candidates[p.best].ms))
          p.best = k;
      }
      if (p.best > 0) choices[key_of(p)] = {p.candidates[p.best].algorithm, remark_of(p)};
    }
    if (!choices.empty()) MICA_TRY_STATUS(check(choices));
    if (!result_.kept) choices.clear();
    add_known(choices);
    result_.text = text_of(*machine_, choices);
    return {};
  }

  void add_known(Choices& choices) const {
    if (!options_.known) return;
    for (const TunedChoice& c : options_.known->choices()) {
      const std::string key = line_key(c.family, c.problem);
      const auto is_met = [&](const TunedProblem& p) { return key_of(p) == key; };
      if (!std::ranges::any_of(result_.problems, is_met)) choices[key] = {std::string(c.choice), ""};
    }
  }

  static std::string remark_of(const TunedProblem& p) {
    char text[128];
    const auto& best = p.candidates[p.best];
    const auto& first = p.candidates.front();
    const auto us = [](double ms) { return static_cast<int64_t>(std::lround(ms * 1e3)); };
    return {text, format_to(text, sizeof text, "{} us; {} {} us", us(best.ms), first.algorithm, us(first.ms))};
  }

  // Whole runs, by rows where that is faster: what stages gain alone may be lost between them.
  Status check(const Choices& choices) {
    MICA_TRY(const Entrant* tuned, enter(choices, RowChainMode::kChoose));
    std::vector<double> before, after, ratio;
    int64_t losses = 0;
    const int64_t begin = now_ns();
    while (ratio.size() < static_cast<size_t>(kLeastTurns) || seconds_since(begin) < options_.seconds * kCheckShare) {
      const bool back = ratio.size() % 2;
      for (int k = 0; k < 2; ++k) {
        const bool is_tuned = (k == 1) != back;
        const Entrant& entrant = is_tuned ? *tuned : *before_;
        MICA_TRY_STATUS(entrant.states->put_back());
        const int64_t start = thread_cpu_ns();
        MICA_TRY_STATUS(entrant.session->run());
        (is_tuned ? after : before).push_back(static_cast<double>(thread_cpu_ns() - start) * 1e-6);
      }
      ratio.push_back(after.back() / before.back());
      losses += ratio.back() > 1;
    }
    result_.before_ms = median(before);
    result_.after_ms = median(after);
    const bool often = static_cast<double>(losses) >= kShareOfTurns * static_cast<double>(ratio.size());
    result_.kept = median(ratio) < kSlower || !often;
    return {};
  }

  const TuneOptions& options_;
  const Machine* machine_ = nullptr;
  std::deque<Entrant> all_;       // their tables stay where they are
  std::vector<Entrant*> racers_;  // the k-th takes the k-th candidates, stage by stage
  Entrant* before_ = nullptr;     // as predicted, by rows where that is faster
  TuneResult result_;
};

}  // namespace

Result<TuneResult> tune(const TuneOptions& options) { return Tuner(options).run(); }

}  // namespace mica
