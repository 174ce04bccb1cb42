// Measured choices: what is measured, what a session makes of the file, and what it must not.
#include "measure/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "measure/explain.h"
#include "support/run_graph.h"

namespace mica {
namespace {

using support::compiled;
using support::difference;
using support::Machinery;
using support::RunOptions;

std::string weights(const char* name, const std::string& dims, int n) {
  std::string text = std::string("  constant %") + name + ": f32[" + dims + "] = {";
  for (int i = 0; i < n; ++i) text += (i ? ", " : "") + std::to_string((i * 37 % 23 - 11) * 0.03125);
  return text + "}\n";
}

// A 3x3 convolution twice, one by rows of two, and one of single pixels.
std::string graph() {
  return "graph \"convolutions\"\n  input %x: f32[1,16,12,12] \"x\"\n" + weights("a", "16,16,3,3", 2304) +
         weights("b", "16,16,1,1", 256) +
         "  %1 = conv(%x, %a) pads=[1,1,1,1]\n  %2 = relu(%1)\n  %3 = conv(%2, %a) pads=[1,1,1,1]\n"
         "  %4 = conv(%3, %b)\n  %y = conv(%4, %a) pads=[1,1,1,1], strides=[2,2]\n  output %y \"y\"\nend\n";
}
constexpr const char* kThree = "1x1x12x12x16:1x12x12x16:k1x3x3:s1x1x1:d1x1x1:p0x1x1:g1";
constexpr const char* kOne = "1x1x12x12x16:1x12x12x16:k1x1x1:s1x1x1:d1x1x1:p0x0x0:g1";

Tuning table(const std::string& lines, int count) {
  const std::string text = std::string(kTuningTitle) + "\n" + lines + "end " + std::to_string(count) + "\n";
  Vector<std::byte> bytes;
  EXPECT_TRUE(bytes.append(std::as_bytes(std::span(text.data(), text.size()))).ok());
  auto made = Tuning::parse(std::move(bytes));
  EXPECT_TRUE(made.ok());
  return made.ok() ? made.take() : Tuning();
}

std::string conv_line(const std::string& problem, const std::string& algorithm) {
  return "conv " + problem + " " + algorithm + "\n";
}

struct Outcome {
  OwnedTensor output;
  std::vector<StageChoice> choices;
  size_t promised = 0, held = 0;  // bytes, before and behind the run
};

Outcome run(const Tuning& tuning, RunOptions options = {}) {
  Machinery machinery(compiled(graph(), options), options);
  Session& session = machinery.session();
  session.runner().set_tuning(&tuning);
  const OwnedTensor x = support::filled(session.input_type(0), 3, 5);
  EXPECT_TRUE(session.set_input(0, x.view()).ok());
  Outcome made;
  made.choices = value_or_throw(explain(session));
  made.promised = session.memory_bytes() + machinery.model().weight_bytes();
  EXPECT_TRUE(session.run().ok());
  made.held = session.memory_bytes() + machinery.model().weight_bytes();
  made.output = value_or_throw(OwnedTensor::copy_of(*session.output(0)));
  return made;
}

RunOptions plain() {
  RunOptions options;
  options.runner.row_chains = RowChainMode::kNever;
  return options;
}

std::string kernels_of(const Outcome& run) {
  std::string names;
  for (const StageChoice& c : run.choices) names += c.kernel + (c.is_tuned ? "! " : " ");
  return names;
}

TEST(Tune, AChoiceOfTheFileIsTaken) {
  const Outcome wanted = run(Tuning(), support::plainly());
  for (const char* algorithm : {"implicit", "winograd4", "winograd6"}) {
    const Outcome got = run(table(conv_line(kThree, algorithm), 1), plain());
    ASSERT_EQ(got.choices.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(got.choices[i].is_tuned, i < 2) << algorithm;
      if (i < 2) {
        EXPECT_EQ(got.choices[i].kernel, std::string("conv_f32_") + algorithm);
      }
    }
    // Four layers, whose errors are below 3e-4 for data of variance 1: far less than 1e-3 of the largest value.
    EXPECT_EQ(difference(wanted.output.view(), got.output.view(), 1e-3 / 6e-8), "") << algorithm;
    EXPECT_EQ(got.promised, got.held) << algorithm;
  }
}

// Unknown words, algorithms that cannot do it or are not exact enough, problems that there are not.
TEST(Tune, WhatDoesNotFitIsIgnored) {
  const Outcome wanted = run(Tuning(), plain());
  const std::string lines = conv_line(kThree, "depthwise") + conv_line(kOne, "winograd4") +
                            conv_line("1x1", "implicit") + "gemm " + kThree + " implicit\n";
  EXPECT_EQ(kernels_of(run(table(lines, 4), plain())), kernels_of(wanted));
  for (const char* word : {"pointwise", "spread8", "winograd8", "fastest", "auto", "winograd"}) {
    const Outcome got = run(table(conv_line(kThree, word), 1), plain());
    EXPECT_EQ(kernels_of(got), kernels_of(wanted)) << word;
    EXPECT_EQ(difference(wanted.output.view(), got.output.view(), 0), "") << word;
  }
}

TEST(Tune, ExactAndLowMemorySessionsKeepTheirs) {
  const Tuning winograd = table(conv_line(kThree, "winograd4") + conv_line(kOne, "implicit"), 2);
  RunOptions exact = plain(), low = plain();
  exact.runner.exact = true;
  low.runner.low_memory = true;
  EXPECT_EQ(kernels_of(run(winograd, exact)), kernels_of(run(Tuning(), exact)));
  EXPECT_EQ(kernels_of(run(table(conv_line(kThree, "winograd4"), 1), low)), kernels_of(run(Tuning(), low)));
}

TEST(Tune, ChoicesRunByRowsToTheSameBits) {
  const Tuning tuning = table(conv_line(kThree, "implicit") + conv_line(kOne, "implicit"), 2);
  const Outcome wanted = run(tuning, plain());
  for (int threads : {1, 2, 3}) {
    RunOptions options;
    options.runner.row_chains = RowChainMode::kAlways;
    options.threads = threads;
    EXPECT_EQ(difference(wanted.output.view(), run(tuning, options).output.view(), 0), "") << threads;
  }
}

// Sessions of one model for `tune`, which live as long as this.
class Sessions {
 public:
  explicit Sessions(int threads = 1)
      : options_{.threads = threads},
        machinery_(compiled(graph(), options_), options_),
        x_(support::filled(machinery_.session().input_type(0), 3, 5)) {}
  ~Sessions() {
    for (Session* session : made_) Session::destroy(session);
  }
  Result<Session*> make(RowChainMode chains) {
    RunnerOptions options;
    options.row_chains = chains;
    MICA_TRY(Session * session, Session::create(machinery_.model(), options));
    made_.push_back(session);
    MICA_TRY_STATUS(session->set_input(0, x_.view()));
    return session;
  }
  Result<TuneResult> tune(const Tuning* known = nullptr) {
    TuneOptions options;
    options.seconds = 0;
    options.known = known;
    options.make = [this](RowChainMode chains) { return make(chains); };
    return mica::tune(options);
  }
  const Machine& machine() { return machinery_.context().machine; }

 private:
  RunOptions options_;
  Machinery machinery_;
  OwnedTensor x_;
  std::vector<Session*> made_;
};

TEST(Tune, MeasuresEveryCandidateAndWritesWhatItReads) {
  Sessions sessions;
  const Tuning known = table(conv_line("9x9", "implicit") + conv_line(kThree, "winograd4") + "other x y\n", 3);
  const auto found = sessions.tune(&known);
  ASSERT_TRUE(found.ok()) << found.error().what();
  ASSERT_EQ(found->problems.size(), 3u);
  EXPECT_EQ(found->turns, 5);
  int64_t stages = 0, changed = 0;
  for (const TunedProblem& p : found->problems) {
    stages += p.stages, changed += p.best > 0;
    ASSERT_FALSE(p.candidates.empty());
    ASSERT_LT(p.best, p.candidates.size());
    if (p.problem == kOne) {
      EXPECT_EQ(p.candidates.front().algorithm, "pointwise");
    }
    for (const auto& c : p.candidates) {
      EXPECT_GT(c.predicted_kcycles, 0);
      EXPECT_EQ(p.candidates.size() > 1, c.ms > 0) << p.problem << " " << c.algorithm;
      EXPECT_NE(c.algorithm, "winograd8") << "its error is too large to be taken unasked";
    }
  }
  EXPECT_EQ(stages, 4);
  EXPECT_EQ(changed > 0, found->before_ms > 0);
  Vector<std::byte> bytes;
  ASSERT_TRUE(bytes.append(std::as_bytes(std::span(found->text.data(), found->text.size()))).ok());
  const auto read = Tuning::parse(std::move(bytes));
  ASSERT_TRUE(read.ok()) << read.error().what();
  EXPECT_EQ(read->mismatch(sessions.machine()), "");
  EXPECT_EQ(read->find("conv", "9x9"), "implicit");
  EXPECT_EQ(read->find("other", "x"), "y");
  EXPECT_EQ(read->choices().size(), 2u + static_cast<size_t>(found->kept ? changed : 0));
  for (const TunedProblem& p : found->problems)
    EXPECT_EQ(read->find("conv", p.problem), found->kept && p.best > 0 ? p.candidates[p.best].algorithm : "");
}

TEST(Tune, NeedsOneThread) {
  Sessions sessions(2);
  const auto found = sessions.tune();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code(), Code::kUsage);
}

}  // namespace
}  // namespace mica
