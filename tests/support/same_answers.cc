#include "same_answers.h"

#include <gtest/gtest-spi.h>

#include <algorithm>
#include <cmath>

namespace mica::support {
namespace {

using Tensors = std::vector<OwnedTensor>;

constexpr int64_t kMostMilliseconds = 500;  // of the references, for one graph

// The outputs, and what went wrong: nothing that a test should report by itself.
Tensors tried(const std::string& text, const RunOptions& options, std::string& wrong) {
  testing::TestPartResultArray reports;
  Tensors outputs;
  {
    testing::ScopedFakeTestPartResultReporter silent(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &reports);
    outputs = run_text(text, options);
  }
  if (reports.size()) wrong = reports.GetTestPartResult(0).message();
  return outputs;
}

bool finite(const OwnedTensor& tensor) {
  const TensorView view = tensor.view();
  for (int64_t i = 0; is_float(view.dtype) && i < view.count(); ++i)
    if (!std::isfinite(Elements(view).number(i))) return false;
  return true;
}

// The elements as those of another type.
OwnedTensor as(DType dtype, const TensorView& from) {
  OwnedTensor made = value_or_throw(OwnedTensor::make(dtype, from.shape()));
  const Elements to(made.view());
  for (int64_t i = 0; i < from.count(); ++i)
    is_float(dtype) ? to.set_number(i, Elements(from).number(i)) : to.set_integer(i, Elements(from).integer(i));
  return made;
}

}  // namespace

Answers::Answers(std::string text, uint64_t seed, double units) : text_(std::move(text)), seed_(seed), units_(units) {
  RunOptions options = plainly();
  options.seed = seed;
  options.milliseconds = kMostMilliseconds;
  std::string wrong;
  wanted_ = tried(text_, options, wrong);
  comparable_ = wrong.empty() && std::ranges::all_of(wanted_, finite);
}

// Whether rounding alone, also of what goes in, changes the answers by a sixteenth of the bound: told by the same graph
// in double precision, where it has that form.
bool Answers::trembles() const {
  std::string text = text_, wrong;
  for (size_t at = 0; (at = text.find(": f32[", at)) != std::string::npos;) text.replace(at + 2, 3, "f64");
  RunOptions options = plainly();
  options.seed = seed_;
  const Tensors precise = tried(text, options, wrong);
  if (!wrong.empty() || precise.size() != wanted_.size()) return false;
  Tensors rounded;
  for (size_t i = 0; i < precise.size(); ++i) rounded.push_back(as(wanted_[i].view().dtype, precise[i].view()));
  return !support::difference(wanted_, rounded, units_ / 16).empty();
}

std::string Answers::difference(RunOptions options) const {
  std::string wrong;
  options.seed = seed_;
  const Tensors got = tried(text_, options, wrong);
  if (!wrong.empty()) return wrong;
  wrong = support::difference(wanted_, got, units_);
  return wrong.empty() || trembles() ? "" : wrong;
}

}  // namespace mica::support
