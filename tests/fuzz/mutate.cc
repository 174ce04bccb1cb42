// mutate [--files N] [--seconds S] [--first I] [--seed K] [--most-bytes B] [--save FOLDER [--save-all]] [--resume FILE]
// SEED...: damaged ONNX, graph text and .mica files through import, conversion, loading, binding and two runs. No file
// may crash the program, hang it (10 s of processor time, 60 s by the clock), make it hold more than 1 GiB, or leak
// (under sanitizers). SEED: a file or a folder with files of at most B bytes; small models made here come with them.
// Prints how far the files came, and which of the models made here do not run; --save keeps what failed. The last line
// is `N passed, N failed, N skipped`. With --resume the counts of earlier runs over the same seeds are read from FILE,
// kept there after every few hundred files, and gone on from.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/os.h"
#include "stock.h"
#include "support/heap.h"
#include "support/temp_folder.h"

namespace mica::fuzz {
namespace {

constexpr int kCpuSeconds = 10, kClockSeconds = 60, kLeakStatus = 78;
constexpr long kFilesOfChild = 400;
constexpr size_t kMostFileBytes = size_t{32} << 20;

struct Options {
  long files = 2000, first = 0, seconds = 60;
  uint64_t seed = 1;
  size_t most_bytes = 500000;
  std::string save, resume;
  bool save_all = false;
  std::vector<std::string> seeds;
};

// What the children tell the parent.
struct Shared {
  long next;
  long reached[kKinds][kStages];
  long most_bytes;  // held for one file
  int64_t most_ns;  // of processor time for one file
  long heaviest, slowest;
  size_t file_bytes;
  char file[kMostFileBytes];  // the one that is tried
};

void show(Shared& shared, const std::string& file) {
  shared.file_bytes = std::min(file.size(), kMostFileBytes);
  std::memcpy(shared.file, file.data(), shared.file_bytes);
}

void set_timers(int cpu_seconds, int clock_seconds) {
  const itimerval timer{{0, 0}, {cpu_seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  alarm(static_cast<unsigned>(clock_seconds));
}

void save_file(const Options& options, const Shared& shared) {
  if (options.save.empty()) return;
  std::ofstream out(options.save + "/found-" + std::to_string(options.seed) + "-" + std::to_string(shared.next),
                    std::ios::binary);
  out.write(shared.file, static_cast<std::streamsize>(shared.file_bytes));
}

void try_next(Stock& stock, const Options& options, Shared& shared) {
  Random random(options.seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(shared.next));
  const std::string file = stock.file(shared.next, random);
  const Kind kind = kind_of(file);
  show(shared, file);
  set_timers(kCpuSeconds, kClockSeconds);
  heap::cap_at(1L << 30);
  const int64_t begin = process_cpu_ns();
  const Stage stage = attempt(file, kind, random);
  const int64_t ns = process_cpu_ns() - begin;
  heap::uncap();
  set_timers(0, 0);
  if (ns > shared.most_ns) shared.most_ns = ns, shared.slowest = shared.next;
  if (heap::most_held_bytes() > shared.most_bytes)
    shared.most_bytes = heap::most_held_bytes(), shared.heaviest = shared.next;
  if (const Seed* seed = stock.made(shared.next); seed && stage != Stage::kRan)
    std::printf("seed `%s`: %s\n", seed->name.c_str(), kStageNames[static_cast<int>(stage)]), std::fflush(stdout);
  if (options.save_all) save_file(options, shared);
  ++shared.reached[static_cast<int>(kind)][static_cast<int>(stage)];
}

[[noreturn]] void child(Stock& stock, const Options& options, Shared& shared, long end, int64_t stop_ns) {
  while (shared.next < end && now_ns() < stop_ns) {
    try_next(stock, options, shared);
    ++shared.next;
  }
  if (!heap::find_leaks()) _exit(0);
  --shared.next;  // one of this child's files, by the report
  _exit(kLeakStatus);
}

void report_failure(const Options& options, const Shared& shared, int status) {
  std::printf("FAILED file %ld of seed %llu: %s %d%s\n", shared.next, static_cast<unsigned long long>(options.seed),
              WIFSIGNALED(status) ? "signal" : "exit status",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
              WIFEXITED(status) && WEXITSTATUS(status) == kLeakStatus ? " (it or up to 399 before it leak)" : "");
  save_file(options, shared);
}

long sum(const long (&counts)[kStages], int from = 0) {
  long total = 0;
  for (int s = from; s < kStages; ++s) total += counts[s];
  return total;
}

void print_histogram(const Shared& shared) {
  std::printf("%-24s", "");
  for (const char* name : kKindNames) std::printf("%10s", name);
  for (int s = 0; s < kStages; ++s) {
    std::printf("\n%-24s", kStageNames[s]);
    for (const auto& counts : shared.reached) std::printf("%10ld", counts[s]);
  }
  std::printf("\n");
  const auto share = [&](Kind kind, Stage stage) {
    const auto& counts = shared.reached[static_cast<int>(kind)];
    return 100.0 * static_cast<double>(sum(counts, static_cast<int>(stage))) /
           static_cast<double>(std::max(1L, sum(counts)));
  };
  std::printf("figure onnx_reached_lowering_percent %.1f\n", share(Kind::kOnnx, Stage::kLower));
  std::printf("figure onnx_ran_percent %.1f\n", share(Kind::kOnnx, Stage::kRan));
  std::printf("figure mica_loaded_percent %.1f\n", share(Kind::kMica, Stage::kOpen));
  std::printf("figure mica_ran_percent %.1f\n", share(Kind::kMica, Stage::kRan));
}

// The numbers of earlier runs: the next file, failures, the histogram.
long read_counts(const std::string& path, Shared& shared) {
  long failed = 0;
  std::ifstream in(path);
  if (path.empty() || !(in >> shared.next >> failed)) return 0;
  for (auto& counts : shared.reached)
    for (long& count : counts) in >> count;
  return failed;
}
void keep_counts(const std::string& path, const Shared& shared, long failed) {
  if (path.empty()) return;
  {
    std::ofstream out(path + ".new");
    out << shared.next << ' ' << failed << '\n';
    for (const auto& counts : shared.reached)
      for (long count : counts) out << count << ' ';
  }
  std::filesystem::rename(path + ".new", path);
}

// The children's exit statuses; the parent itself tries nothing.
long run_children(Stock& stock, const Options& options, Shared& shared, long failed) {
  const long end = options.first + options.files;
  const int64_t stop_ns = now_ns() + options.seconds * 1'000'000'000;
  while (shared.next < end && now_ns() < stop_ns) {
    std::fflush(stdout);
    const long first = shared.next;
    const pid_t pid = fork();
    if (pid == 0) child(stock, options, shared, std::min(end, first + kFilesOfChild), stop_ns);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0) std::exit(3);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      report_failure(options, shared, status);
      ++failed;
      ++shared.next;
    }
    keep_counts(options.resume, shared, failed);
  }
  return failed;
}

int run(const Options& options) {
  const TempFolder own("mica-mutate");
  const std::string& folder = own.path();
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  auto& shared = *static_cast<Shared*>(memory);
  shared.next = options.first;
  Stock stock(options.seeds, options.most_bytes, folder);
  begin_attempts(folder);
  const long before = read_counts(options.resume, shared), began_at = shared.next;
  const int64_t began_ns = now_ns();
  const long failed = run_children(stock, options, shared, before);
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  print_histogram(shared);
  std::printf("figure seeds %zu\n", stock.size());
  std::printf("figure files_per_second %.1f\n",
              static_cast<double>(shared.next - began_at) * 1e9 / static_cast<double>(now_ns() - began_ns + 1));
  std::printf("figure most_mib_for_a_file %.1f\nfigure most_seconds_for_a_file %.2f\n",
              static_cast<double>(shared.most_bytes) / 1048576, static_cast<double>(shared.most_ns) / 1e9);
  std::printf("figure peak_rss_mib %.1f\n", static_cast<double>(used.ru_maxrss) / 1024);
  std::printf("heaviest: file %ld, slowest: file %ld\n", shared.heaviest, shared.slowest);
  long passed = 0;
  for (const auto& counts : shared.reached) passed += sum(counts);
  std::printf("%ld passed, %ld failed, 0 skipped\n", passed, failed);
  return failed ? 1 : 0;
}

int main_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--files" && more)
      options.files = std::atol(argv[++i]);
    else if (word == "--first" && more)
      options.first = std::atol(argv[++i]);
    else if (word == "--seconds" && more)
      options.seconds = std::atol(argv[++i]);
    else if (word == "--seed" && more)
      options.seed = static_cast<uint64_t>(std::atoll(argv[++i]));
    else if (word == "--most-bytes" && more)
      options.most_bytes = static_cast<size_t>(std::atoll(argv[++i]));
    else if (word == "--save" && more)
      options.save = argv[++i];
    else if (word == "--save-all")
      options.save_all = true;
    else if (word == "--resume" && more)
      options.resume = argv[++i];
    else if (word.starts_with("--"))
      return std::fputs(
                 "usage: mutate [--files N] [--first I] [--seconds S] [--seed K] [--most-bytes B]\n"
                 "              [--save FOLDER [--save-all]] [--resume FILE] SEED...\n",
                 stderr),
             2;
    else
      options.seeds.push_back(word);
  }
  return run(options);
}

}  // namespace
}  // namespace mica::fuzz

int main(int argc, char** argv) { return mica::fuzz::main_of(argc, argv); }
