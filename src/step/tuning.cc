#include "step/tuning.h"

#include <algorithm>

#include "base/string.h"
#include "base/version.h"

namespace mica {
namespace {

constexpr size_t kMostWord = 256;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The first word, which leaves `rest`.
std::string_view take_word(std::string_view& rest) {
  const size_t end = std::min(rest.find_first_of(" \t\r"), rest.size());
  const std::string_view word = slice(rest, 0, end);
  rest = trim(slice(rest, end));
  return word;
}

bool before(const TunedChoice& a, const TunedChoice& b) {
  return a.problem != b.problem ? a.problem < b.problem : a.family < b.family;
}

bool is_number(std::string_view word, size_t value) {
  char text[24];
  return word == std::string_view(text, format_to(text, sizeof text, "{}", value));
}

// Lines without remarks and without what is empty.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next(std::string_view& line) {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      line = slice(rest_, 0, end);
      rest_ = slice(rest_, end + 1);
      ++number_;
      line = trim(slice(line, 0, line.find('#')));
      if (!line.empty()) return true;
    }
    return false;
  }
  int64_t number() const { return number_; }

 private:
  std::string_view rest_;
  int64_t number_ = 0;
};

}  // namespace

Result<Tuning> Tuning::parse(Vector<std::byte> bytes) {
  MICA_CHECK(bytes.size() <= kMostTuningBytes, kLimit, "a file of measured choices has {} bytes, more than {}",
             bytes.size(), kMostTuningBytes);
  Tuning made;
  made.text_ = std::move(bytes);
  Lines lines({reinterpret_cast<const char*>(made.text_.data()), made.text_.size()});
  std::string_view line;
  MICA_CHECK(lines.next(line) && line == kTuningTitle, kBadText, "a file of measured choices begins with `{}`",
             kTuningTitle);
  bool ended = false;
  while (lines.next(line)) {
    MICA_CHECK(!ended, kBadText, "line {} stands behind the end", lines.number());
    const std::string_view first = take_word(line);
    std::string_view* field = first == "version"     ? &made.version_
                              : first == "processor" ? &made.processor_
                              : first == "isa"       ? &made.isa_
                              : first == "l2"        ? &made.l2_
                                                     : nullptr;
    if (field) {
      MICA_CHECK(field->empty() && made.choices_.empty(), kBadText, "line {}: `{}` comes again", lines.number(), first);
      *field = line;
    } else if (first == "end") {
      MICA_CHECK(is_number(line, made.choices_.size()), kBadText, "line {}: the file has {} choices, its end says `{}`",
                 lines.number(), made.choices_.size(), slice(line, 0, kMostWord));
      ended = true;
    } else {
      const std::string_view problem = take_word(line), choice = take_word(line);
      MICA_CHECK(!choice.empty() && line.empty() && problem.size() <= kMostWord, kBadText,
                 "line {} is no `family problem choice`", lines.number());
      MICA_TRY_STATUS(made.choices_.push_back({first, problem, choice}));
    }
  }
  MICA_CHECK(ended, kBadText, "a file of measured choices ends early, behind line {}", lines.number());
  std::sort(made.choices_.begin(), made.choices_.end(), before);
  for (size_t i = 1; i < made.choices_.size(); ++i)
    MICA_CHECK(before(made.choices_[i - 1], made.choices_[i]), kBadText, "`{}` has two choices",
               made.choices_[i].problem);
  return made;
}

std::string_view Tuning::find(std::string_view family, std::string_view problem) const {
  const TunedChoice wanted{family, problem, {}};
  const TunedChoice* at = std::lower_bound(choices_.begin(), choices_.end(), wanted, before);
  return at != choices_.end() && !before(wanted, *at) ? at->choice : std::string_view();
}

std::string_view Tuning::mismatch(const Machine& machine) const {
  if (version_ != kVersion) return "version";
  if (processor_ != machine.model.view()) return "processor";
  if (isa_ != name_of(machine.isa)) return "instruction set";
  if (!is_number(l2_, machine.l2)) return "second-level cache";
  return {};
}

}  // namespace mica
