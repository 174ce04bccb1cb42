// What the verbs share: failures with exit codes, talk on stderr, names that were nearly right.
#pragma once
#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mica/mica.hpp"

namespace mica::cli {

enum ExitCode : int { kOk = 0, kCheckFailed = 1, kUsage = 2, kModel = 3, kDevice = 4 };

// Ends a verb: `text` goes to stderr, printable.
struct Failed : std::runtime_error {
  Failed(int code, const std::string& text) : std::runtime_error(text), exit(code) {}
  int exit;
};
[[noreturn]] void fail_usage(const std::string& what, const std::string& hint = {});

// The exit code that stands for an error's number.
int exit_code_of(int error_code);
void check(Status status);
void check(mica_error* error);  // takes it over
template <class T>
T take(Result<T> result) {
  if (!result.ok()) throw Failed(exit_code_of(result.error().code()), result.error().text());
  return std::move(*result);
}

// Stdin, stdout and stderr that were closed fail from now on: no file that is opened later gets their numbers.
void open_standard_files();
// Text to stdout. What a file or a full disk does not take ends the verb with MICA7001, a reader that went away ends it
// without a word: here, or in `finish`, which writes out what is held back.
void put_text(const std::string& text);
void finish();
template <class... Args>
void put(fmt::format_string<Args...> format, Args&&... args) {
  put_text(fmt::format(format, std::forward<Args>(args)...));
}
// Control characters but new lines and tabs as \x1b: what a model calls its parts must not steer a terminal.
std::string printable(std::string_view text);
// Printable text to stderr. Where it is full or closed, the exit code has to do.
void complain(std::string_view text);
// One line to stderr, unless --quiet was given.
void say(const std::string& line);
void set_quiet(bool quiet);
// Whether stderr (or stdout) is a terminal that may be coloured: NO_COLOR and pipes say no.
bool colours(int file);

// "hint: did you mean `x`?" for the candidate that is closest to `wanted`, or "".
std::string nearest_hint(std::string_view wanted, const std::vector<std::string>& candidates);
// "a=b" in two; usage error with `what` when there is no `=`.
std::pair<std::string, std::string> split_pair(const std::string& text, std::string_view what);
// "1x3x224x224" or "1,3,224,224"; `?` and -1 stand for -1.
std::vector<int64_t> parse_dims(const std::string& text, std::string_view what);
std::string dims_text(const std::vector<int64_t>& dims);  // "1x3x224x224"
// The files that the verb is going to write. From then on it is a usage error to read one of them, by whatever name.
void set_written(std::vector<std::string> paths);
const std::vector<std::string>& written();
void check_not_written(const std::string& path);
// What a file holds.
std::string read_text(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);
// The lines of a file, without line ends; trailing empty ones are dropped.
std::vector<std::string> read_lines(const std::string& path);
bool ends_with(std::string_view text, std::string_view end);  // in any case

// One line on stderr that is rewritten while something takes long: nothing in the first second, and nothing without a
// terminal.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  void update(double share);  // 0 … 1

 private:
  std::string what_;
  int64_t begin_ns_, shown_ns_ = 0;
  bool shown_ = false;
};

}  // namespace mica::cli
