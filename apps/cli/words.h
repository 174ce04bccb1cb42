// The words that a verb knows. CLI11 parses them, behind this header: a verb that includes CLI11's own takes twice as
// long to compile.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mica::cli {

// One of them, and what else holds for it.
class Word {
 public:
  explicit Word(CLI::Option* option) : option_(option) {}

  Word& required();
  Word& one_of(const std::vector<std::string>& allowed);
  Word& between(double least, double most);  // NaN is not
  Word& positive();
  Word& whole();                            // 0 … 2^64 - 1
  Word& not_empty();                        // a file's name
  Word& excludes(const Word& other);        // the two together are an error
  Word& split_at(char separator);           // several values in one word
  Word& shows_default();                    // in the help
  Word& in_group(const std::string& name);  // of the help

 private:
  CLI::Option* option_;
};

// `names` as CLI11 spells them: "-o,--out", "--check,!--no-check", or "MODEL" for a word without dashes.
class Words {
 public:
  explicit Words(CLI::App& app) : app_(app) {}

  Word flag(const std::string& names, bool& to, const std::string& meaning);
  // T: a string, several, a 32-bit or 64-bit integer, double.
  template <class T>
  Word option(const std::string& names, T& to, const std::string& meaning);
  // --format, with the first of `allowed` as default.
  void format(std::string& to, const std::vector<std::string>& allowed);

 private:
  CLI::App& app_;
};

}  // namespace mica::cli
