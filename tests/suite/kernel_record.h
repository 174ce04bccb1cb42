// Which kernels ran on which instruction set, over all problems of a test program, as the probes saw them; printed at
// its end, and written as JSON to the file that MICA_KERNEL_TABLE names.
//
// A problem whose steps run a kernel of another set than the one that was asked for has fallen back. So has one that
// runs kernels on one set and on another only code that belongs to none, or the reference.
#pragma once
#include <map>
#include <ostream>
#include <set>
#include <string>

#include "measure/explain_step.h"
#include "probes.h"

namespace mica::suite {

// What did a problem's work: the reference, nobody because there is none (an empty tensor), steps that are the same
// code on every set, or kernels of a set.
enum class Work : uint8_t { kReference, kNothing, kCommon, kKernels };

class KernelRecord {
 public:
  using Counts = std::map<Isa, int64_t>;

  static KernelRecord& get();  // of this program
  void note_symbol(const KernelSymbol& symbol) { ++symbols_[{symbol.file, symbol.name}][symbol.isa]; }
  void note_step(std::string_view step, Isa isa);
  // Of steps bound under MICA_FORCE: how many could take the forced algorithm, and how many do.
  template <class Steps>
  void note_force(const Steps& steps) {
    for (const StepSpec& step : steps) {
      char text[1024];
      Explanation explanation;
      explain_any_step(step.kernel, step.arguments, text, explanation);
      can_force_ += explanation.can_force;
      forced_ += explanation.is_forced;
    }
  }
  int64_t can_force() const { return can_force_; }
  int64_t forced() const { return forced_; }
  void note_work(const std::string& op, Isa isa, Work work) { ++operators_[op][work][isa]; }

  void print() const;
  void write_json(std::ostream& out) const;
  // Sources of kernels of which nothing ran on `isa`.
  std::set<std::string> idle_sources(Isa isa) const;

 private:
  int64_t can_force_ = 0, forced_ = 0;
  std::map<std::pair<std::string, std::string>, Counts> symbols_;  // by source and name
  std::map<std::string, Counts, std::less<>> steps_;
  std::map<std::string, std::map<Work, Counts>, std::less<>> operators_;
};

// The runs of one problem.
class ProblemRecord {
 public:
  explicit ProblemRecord(std::string op, KernelRecord& sum = KernelRecord::get()) : op_(std::move(op)), sum_(sum) {}

  // Steps run between these two. `run` says which run of the problem it is, on every set alike; `steps`: the names of
  // those that have tasks.
  static void begin() { Probes::get().arm(); }
  void end(Isa isa, const std::string& run, const std::set<std::string, std::less<>>& steps);
  void left_to_reference(Isa isa, const std::string& run);

  // Empty, or a line for each run that fell back.
  std::string fallbacks() const;

 private:
  struct Row {
    Work work = Work::kReference;
    std::string kernel;   // one of the set's own
    std::string foreign;  // one of another set's
  };
  std::string op_;
  KernelRecord& sum_;
  std::map<std::string, std::map<Isa, Row>> rows_;
};

}  // namespace mica::suite
