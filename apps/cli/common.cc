#include "common.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "mica/tools.hpp"

namespace mica::cli {
namespace {

constexpr char kClearLine[] = "\r\033[K";

// The process's own switch, set once by main.
bool& quiet_switch() {
  static bool quiet = false;
  return quiet;
}

// Of the process, too.
std::vector<std::string>& written_files() {
  static std::vector<std::string> files;
  return files;
}

[[noreturn]] void fail_stdout(int reason) {
  if (reason == EPIPE) throw Failed(kModel, "");
  throw Failed(kModel, fmt::format("error[MICA7001]: cannot write to stdout: {}\nhint: the output is not whole\n",
                                   std::generic_category().message(reason)));
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Insertions, removals, replacements and swaps of neighbours that turn `a` into `b`, upper and lower case being equal
// (the distance of Damerau and Levenshtein, restricted: no letter is touched twice).
size_t distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

}  // namespace

void fail_usage(const std::string& what, const std::string& hint) {
  throw Failed(kUsage, "error[MICA6001]: " + what + "\n" + (hint.empty() ? "" : "hint: " + hint + "\n"));
}

int exit_code_of(int error_code) {
  if (error_code == 4010) return kCheckFailed;
  if (error_code == 7010) return kDevice;
  return error_code / 1000 == 6 ? kUsage : kModel;
}

void check(Status status) {
  if (!status.ok()) throw Failed(exit_code_of(status.error().code()), status.error().text());
}
void check(mica_error* error) { check(Status(error)); }

void open_standard_files() {
  // The wrong way round: what is read or written there fails.
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) < 0) ::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void put_text(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_stdout(errno);
}

void finish() {
  if (std::fflush(stdout) != 0) fail_stdout(errno);
}

std::string printable(std::string_view text) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
      made += fmt::format("\\x{:02x}", c);
    else if (c == 0xc2 && next >= 0x80 && next < 0xa0)  // U+0080 to U+009F
      made += fmt::format("\\x{:02x}", next), ++i;
    else
      made += text[i];
  }
  return made;
}

void complain(std::string_view text) { std::fputs(printable(text).c_str(), stderr); }

void set_quiet(bool quiet) { quiet_switch() = quiet; }
void say(const std::string& line) {
  if (!quiet_switch()) complain(line + "\n");
}

bool colours(int file) {
  const char* no = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(file) && !(no && *no) && !(terminal && std::string_view(terminal) == "dumb");
}

std::string nearest_hint(std::string_view wanted, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  size_t least = std::max<size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& name : candidates)
    if (const size_t d = distance(wanted, name); d < least) least = d, best = &name;
  return best ? "did you mean `" + *best + "`?" : "";
}

std::pair<std::string, std::string> split_pair(const std::string& text, std::string_view what) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) fail_usage(fmt::format("`{}` is not of the form {}", text, what));
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<int64_t> parse_dims(const std::string& text, std::string_view what) {
  std::vector<int64_t> dims;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of("xX,"), rest.size());
    const std::string_view item = rest.substr(0, end);
    int64_t value = -1;
    const auto [stop, code] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (item != "?" && (code != std::errc() || stop != item.data() + item.size() || value < -1))
      fail_usage(fmt::format("`{}` in {}: `{}` is no size", text, what, item),
                 "sizes are numbers with x between them: 1x3x224x224");
    dims.push_back(value);
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return dims;
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string text;
  for (int64_t d : dims) text += (text.empty() ? "" : "x") + (d < 0 ? std::string("?") : std::to_string(d));
  return text.empty() ? "scalar" : text;
}

void set_written(std::vector<std::string> paths) {
  std::error_code code;  // what is not there yet cannot be read either
  std::erase_if(paths, [&](const std::string& path) { return !std::filesystem::exists(path, code); });
  written_files() = std::move(paths);
}
const std::vector<std::string>& written() { return written_files(); }

void check_not_written(const std::string& path) { check(tools::check_not_written(path, written_files())); }

std::string read_text(const std::string& path) {
  check_not_written(path);
  std::string bytes;
  check(tools::read_file(path, bytes));
  return bytes;
}

void write_file(const std::string& path, const std::string& bytes) { check(tools::write_file(path, bytes)); }

std::vector<std::string> read_lines(const std::string& path) {
  std::istringstream text(read_text(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.begin(), end.end(), text.end() - static_cast<std::ptrdiff_t>(end.size()), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
         });
}

Progress::Progress(std::string what) : what_(std::move(what)), begin_ns_(now_ns()) {}
Progress::~Progress() {
  if (shown_) std::fputs(kClearLine, stderr);
}
void Progress::update(double share) {
  const int64_t now = now_ns();
  if (quiet_switch() || !isatty(2) || now - begin_ns_ < 1000000000 || now - shown_ns_ < 100000000) return;
  shown_ns_ = now;
  shown_ = true;
  const double seconds = static_cast<double>(now - begin_ns_) * 1e-9;
  const double left = share > 0 ? seconds / share - seconds : 0;
  std::fputs(kClearLine, stderr);
  complain(fmt::format("{} {:.0f} % ({:.0f} s, {:.0f} s left)", what_, share * 100, seconds, left));
  std::fflush(stderr);
}

}  // namespace mica::cli
