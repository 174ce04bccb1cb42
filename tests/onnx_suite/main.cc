// onnx_suite FOLDER: runs every case folder below FOLDER (each with model.onnx and test_data_set_*), each in a process
// of its own, and prints a table by operator, the failures and `N passed, N failed, N skipped`. A case that cannot run
// has failed. Cases that are not to pass stand in a file, each with its reason; they run all the same, and one that
// passes is a failure of the file.
#include <sys/wait.h>
#include <unistd.h>

#include <fnmatch.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "run_case.h"

namespace fs = std::filesystem;
using mica::suite::CaseOptions;
using mica::suite::CaseResult;

namespace {

struct Options {
  std::string folder, only, json, isa, exceptions, onnx_release, row_chains = "auto";
  int threads = 1, seconds = 60;
  bool reference = false, self_test = false, quiet = false, unfused = false;
};

// A crash or a hang of one case is that case's failure.
CaseResult run_isolated(const fs::path& folder, const CaseOptions& options, int seconds) {
  int ends[2];
  if (pipe(ends) != 0) return {"?", "no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(static_cast<unsigned>(seconds));
    const CaseResult result = run_case(folder, options);
    const std::string text = result.op + "\n" + std::to_string(result.can_force) + " " + std::to_string(result.forced) +
                             "\n" + result.problem;
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return {"?", WIFSIGNALED(status) ? WTERMSIG(status) == SIGALRM
                                           ? "took too long"
                                           : std::string("died of signal ") + std::to_string(WTERMSIG(status))
                                     : "died"};
  CaseResult result;
  std::istringstream in(text);
  std::getline(in, result.op);
  in >> result.can_force >> result.forced;
  in.ignore();
  result.problem.assign(std::istreambuf_iterator<char>(in), {});
  return result;
}

struct Exception {
  std::string pattern, reason;
  // Such a case is to pass, by type, shape and statistics instead of the numbers.
  bool is_random() const { return reason.starts_with("random:"); }
};

// Lines `PATTERN  # reason`; a pattern may hold `*`.
std::vector<Exception> read_exceptions(const std::string& path) {
  std::vector<Exception> list;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const size_t hash = line.find('#');
    const size_t end = line.find_last_not_of(' ', hash == 0 ? 0 : hash - 1);
    if (hash == std::string::npos || hash == 0 || end == std::string::npos) continue;
    list.push_back({line.substr(0, end + 1), line.substr(std::min(line.size(), hash + 2))});
  }
  return list;
}

const Exception* exception_of(const std::vector<Exception>& list, const std::string& name) {
  for (const Exception& e : list)
    if (fnmatch(e.pattern.c_str(), name.c_str(), 0) == 0) return &e;
  return nullptr;
}

std::vector<fs::path> cases_in(const Options& options) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(options.folder))
    if (entry.path().filename() == "model.onnx" && entry.path().string().find(options.only) != std::string::npos)
      cases.push_back(entry.path().parent_path());
  std::ranges::sort(cases);
  return cases;
}

int self_test(const std::vector<fs::path>& cases, const CaseOptions& base) {
  for (const fs::path& folder : cases) {
    CaseOptions options = base;
    if (!run_case(folder, options).problem.empty()) continue;
    options.flip = true;
    const std::string problem = run_case(folder, options).problem;
    const bool seen = problem.find("differ") != std::string::npos;
    std::printf("self-test on %s: a spoiled value %s\n%d passed, %d failed\n", folder.filename().c_str(),
                seen ? "is seen" : "goes unseen", seen, !seen);
    return seen ? 0 : 1;
  }
  std::puts("self-test: no case passes\n0 passed, 1 failed");
  return 1;
}

int run_all(const Options& options, const std::vector<fs::path>& cases, const CaseOptions& base) {
  std::map<std::string, std::pair<int, int>> by_op;
  nlohmann::json rows = nlohmann::json::array();
  const std::vector<Exception> exceptions = read_exceptions(options.exceptions);
  int passed = 0, failed = 0, skipped = 0, can_force = 0, forced = 0;
  for (const fs::path& folder : cases) {
    const Exception* e = exception_of(exceptions, folder.filename().string());
    CaseOptions own = base;
    own.random = e && e->is_random();
    CaseResult result = run_isolated(folder, own, options.seconds);
    bool good = result.problem.empty();
    if (e && !own.random) {
      if (!good) {
        ++skipped;
        continue;
      }
      // A pattern of several cases may hold ones that pass; a name of one case may not.
      good = e->pattern.find('*') != std::string::npos;
      if (!good) result.problem = "passes, but stands among the exceptions: " + e->reason;
    }
    (good ? passed : failed)++;
    can_force += result.can_force, forced += result.forced;
    auto& [ok, all] = by_op[result.op];
    ok += good;
    ++all;
    rows.push_back(
        {{"case", folder.filename().string()}, {"op", result.op}, {"passed", good}, {"problem", result.problem}});
    if (!good && !options.quiet)
      std::printf("FAILED %s (%s): %s\n", folder.filename().c_str(), result.op.c_str(),
                  result.problem.substr(0, 400).c_str());
    if (isatty(2)) std::fprintf(stderr, "\r%d/%zu ", passed + failed, cases.size());
  }
  std::printf("%-32s %6s %6s\n", "operator", "passed", "cases");
  for (const auto& [op, counts] : by_op) std::printf("%-32s %6d %6d\n", op.c_str(), counts.first, counts.second);
  if (!options.json.empty())
    std::ofstream(options.json)
        << nlohmann::json{{"passed", passed}, {"failed", failed}, {"skipped", skipped}, {"cases", rows}}.dump(1);
  if (can_force > 0) std::printf("forced algorithm: %d stages can take it, %d do\n", can_force, forced);
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed || !passed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Operator cases in the layout of the ONNX project's backend tests");
  app.add_option("FOLDER", options.folder, "folder with cases, at any depth")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--only", options.only, "part of a case's path");
  app.add_option("--exceptions", options.exceptions, "file of cases that are not to pass, each with its reason")
      ->check(CLI::ExistingFile);
  app.add_option("--json", options.json, "write results to this file");
  app.add_option("--isa", options.isa, "force an instruction set");
  app.add_option("--onnx-release", options.onnx_release, "the release of ONNX that the cases are of");
  app.add_option("--threads", options.threads, "threads of a session");
  app.add_option("--row-chains", options.row_chains, "run stages as one, by rows")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--seconds", options.seconds, "limit for one case");
  app.add_flag("--reference", options.reference, "run the plain definitions instead of kernels");
  app.add_flag("--unfused", options.unfused, "no epilogues and no chains of element-wise nodes");
  app.add_flag("--self-test", options.self_test, "spoil an expected value and see the case fail");
  app.add_flag("--quiet", options.quiet, "no line per failure");
  CLI11_PARSE(app, argc, argv);
  const mica::RowChainMode row_chains = options.row_chains == "always"  ? mica::RowChainMode::kAlways
                                        : options.row_chains == "never" ? mica::RowChainMode::kNever
                                                                        : mica::RowChainMode::kChoose;
  const CaseOptions base{.isa = options.isa,
                         .threads = options.threads,
                         .row_chains = row_chains,
                         .reference = options.reference,
                         .unfused = options.unfused,
                         .onnx_release = options.onnx_release};
  const auto cases = cases_in(options);
  return options.self_test ? self_test(cases, base) : run_all(options, cases, base);
}
