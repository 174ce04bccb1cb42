// Runs a graph on tensors of a test's: on the reference as it is written, or compiled with everything that compiling
// does.
#pragma once
#include <string>
#include <vector>

#include "passes/declutter/declutter.h"
#include "passes/lower/lower.h"
#include "runtime/session.h"

namespace mica::support {

struct RunOptions {
  DeclutterOptions declutter;
  LowerOptions lower;
  RunnerOptions runner;
  bool rewrite = true;  // run declutter at all
  int64_t size = 3;     // of symbols that inputs leave open
  int threads = 1;
  int64_t milliseconds = 0;  // a run may take; 0: any time
  std::vector<OwnedTensor>* inputs =
      nullptr;  // what to feed; otherwise numbers in [-2, 2] or small integers, by `seed`
  uint64_t seed = 1;
};

// Nothing rewritten, nothing fused, the reference of each operator.
RunOptions plainly();

// Owns all that a session needs.
class Machinery {
 public:
  Machinery(Lowered lowered, const RunOptions& options = {});  // reports failures to gtest
  ~Machinery();
  Machinery(const Machinery&) = delete;
  bool made() const { return session_ != nullptr; }
  Session& session() { return *session_; }
  Model& model() { return *model_; }
  Context& context() { return context_; }

 private:
  Context context_;
  std::shared_ptr<const void> keep_;
  std::unique_ptr<Threads> threads_;
  Model* model_ = nullptr;
  Session* session_ = nullptr;
};

// "{...}" with n numbers of small magnitude, and the line of a constant of such numbers.
std::string numbers(int n);
std::string weights(const char* name, std::vector<int> dims);

Lowered compiled(const std::string& text, const RunOptions& options = {});
// A tensor for an input of `type`.
OwnedTensor filled(const Type& type, int64_t open_size, uint64_t seed);
OwnedTensor floats(std::vector<int64_t> dims, std::vector<float> numbers);
OwnedTensor ints(std::vector<int64_t> dims, std::vector<int64_t> numbers);

// The outputs, dense. Failures are reported to gtest.
std::vector<OwnedTensor> run_text(const std::string& text, const RunOptions& options = {});
// The same of a session that a test looks into afterwards; `text` is what it was made from.
std::vector<OwnedTensor> run_session(Session& session, const std::string& text, const RunOptions& options);

// What differs, empty when nothing: NaN where only one has it always does. `units`: how many rounding errors of the
// largest magnitude in `wanted` a float may be off; 0: equal to the bit.
std::string difference(const TensorView& wanted, const TensorView& got, double units);
std::string difference(const std::vector<OwnedTensor>& wanted, const std::vector<OwnedTensor>& got, double units);

}  // namespace mica::support
