#include "words.h"

#include <CLI/CLI.hpp>

namespace mica::cli {

Word& Word::required() { return option_->required(), *this; }
Word& Word::one_of(const std::vector<std::string>& allowed) { return option_->check(CLI::IsMember(allowed)), *this; }
Word& Word::between(double least, double most) { return option_->check(CLI::Range(least, most)), *this; }
Word& Word::positive() { return option_->check(CLI::PositiveNumber), *this; }
Word& Word::not_negative() { return option_->check(CLI::NonNegativeNumber), *this; }
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
