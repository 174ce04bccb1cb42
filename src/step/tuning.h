// Choices of algorithms that were measured where the prediction is wrong: what `mica tune` writes, and what bind takes
// before its own. A file of lines, kept beside the model:
//
//   mica tuning 1
//   version 0.1.0
//   processor Intel(R) Xeon(R) Processor
//   isa avx512
//   l2 2097152
//   conv 1x1x56x56x64:1x56x56x64:k1x3x3:s1x1x1:d1x1x1:p0x1x1:g1 winograd4    # 0.41 ms; implicit 0.52 ms
//   end 1
//
// A choice is a family of kernels, a problem and an algorithm, in the family's own words: an algorithm that it does not
// know, or that does not fit the problem, is ignored there. `end` counts the choices, so that a file cut short is seen.
// What stands behind a # is for people.
#pragma once
#include <span>
#include <string_view>

#include "base/parts.h"
#include "base/vector.h"
#include "device/cpu/machine.h"

namespace mica {

inline constexpr bool kWithTuning = has_part("measured", "choices");  // or the build leaves such files alone
inline constexpr std::string_view kTuningTitle = "mica tuning 1";
inline constexpr size_t kMostTuningBytes = size_t{1} << 20;

struct TunedChoice {
  std::string_view family, problem, choice;
};

class Tuning {
 public:
  Tuning() = default;  // without choices
  // Takes the file's text. Errors: kBadText with the line, kLimit for more than kMostTuningBytes.
  static Result<Tuning> parse(Vector<std::byte> text);

  bool empty() const { return choices_.empty(); }
  std::span<const TunedChoice> choices() const { return choices_; }
  // The measured choice, or "".
  std::string_view find(std::string_view family, std::string_view problem) const;
  // What is other than where the file was made: "processor", "instruction set", "second-level cache" or "version"; "":
  // nothing, so that its choices hold here. The number of threads does not count: bits must not depend on it.
  std::string_view mismatch(const Machine& machine) const;

 private:
  Vector<std::byte> text_;  // that the views show
  std::string_view version_, processor_, isa_, l2_;
  Vector<TunedChoice> choices_;  // by family and problem
};

}  // namespace mica
