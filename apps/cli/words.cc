#include "words.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cfloat>
#include <charconv>
#include <cstdlib>

namespace mica::cli {
namespace {

// What is wrong with a number's text; "" for nothing, or where it is no number, of which CLI11 tells.
std::string range_problem(const std::string& text, double least, double most, const std::string& range) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || (value >= least && value <= most)) return {};
  return fmt::format("`{}` is not {}", text, range);
}

std::string whole_problem(const std::string& text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && stop == end ? "" : fmt::format("`{}` is no whole number of 0 to {}", text, UINT64_MAX);
}

}  // namespace

Word& Word::required() { return option_->required(), *this; }
Word& Word::one_of(const std::vector<std::string>& allowed) { return option_->check(CLI::IsMember(allowed)), *this; }
Word& Word::between(double least, double most) {
  const std::string range = fmt::format("between {} and {}", least, most);
  option_->check([=](const std::string& text) { return range_problem(text, least, most, range); }, range);
  return *this;
}
Word& Word::positive() {
  option_->check([](const std::string& text) { return range_problem(text, DBL_MIN, DBL_MAX, "more than 0"); });
  return *this;
}
Word& Word::whole() { return option_->check(whole_problem), *this; }
Word& Word::not_empty() {
  option_->check([](const std::string& text) { return text.empty() ? "the name of a file is empty" : std::string(); });
  return *this;
}
Word& Word::excludes(const Word& other) { return option_->excludes(other.option_), *this; }
Word& Word::split_at(char separator) { return option_->delimiter(separator), *this; }
Word& Word::shows_default() { return option_->capture_default_str(), *this; }
Word& Word::in_group(const std::string& name) { return option_->group(name), *this; }

Word Words::flag(const std::string& names, bool& to, const std::string& meaning) {
  return Word(app_.add_flag(names, to, meaning));
}

template <class T>
Word Words::option(const std::string& names, T& to, const std::string& meaning) {
  return Word(app_.add_option(names, to, meaning));
}
template Word Words::option(const std::string&, std::string&, const std::string&);
template Word Words::option(const std::string&, std::vector<std::string>&, const std::string&);
template Word Words::option(const std::string&, int&, const std::string&);
template Word Words::option(const std::string&, int64_t&, const std::string&);
template Word Words::option(const std::string&, uint64_t&, const std::string&);
template Word Words::option(const std::string&, double&, const std::string&);

void Words::format(std::string& to, const std::vector<std::string>& allowed) {
  to = allowed[0];
  option("--format", to, "of what goes to stdout").one_of(allowed).shows_default();
}

}  // namespace mica::cli
