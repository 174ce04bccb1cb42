// A libFuzzer target for files of one kind, MICA_FUZZ_KIND. The file that MICA_FUZZ_COUNTS names counts how far the
// mutated inputs came (not those that are read from the corpus). An input ends the program when it takes more than
// kCpuSeconds of processor time; libFuzzer's -timeout is by the clock, which other programs' load makes longer.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <unordered_set>

#include "base/os.h"
#include "counts.h"
#include "stock.h"
#include "support/temp_folder.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace mica::fuzz {
namespace {

constexpr Kind kKind = Kind::MICA_FUZZ_KIND;
constexpr int kCpuSeconds = 10;

struct Target {
  std::unique_ptr<Counts> counts;
  std::vector<std::string> seeds;        // of the last folder on the command line
  std::unordered_set<uint64_t> refused;  // hashes of inputs that did not pass the first stage
  bool mutated = false;                  // what comes next
} target;

uint64_t hash_of(const std::string& bytes) { return std::hash<std::string>()(bytes); }

void read_seeds(const std::string& folder) {
  target.seeds.clear();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    target.seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  std::sort(target.seeds.begin(), target.seeds.end());
}

const std::string& any_seed(Random& random) { return target.seeds[below(target.seeds.size(), random)]; }

void too_slow(int) {
  static const char kText[] = "an input took more than 10 s of processor time\n";
  (void)!write(2, kText, sizeof kText - 1);
  abort();
}

void limit_time(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

// From here or, more often than not where this one was refused at once, from a seed: most of what comes of a refused
// file is refused too.
std::string base_of(std::string bytes, Random& random) {
  const bool leave = target.refused.contains(hash_of(bytes)) ? random() % 4 != 0 : random() % 16 == 0;
  return leave ? any_seed(random) : bytes;
}

// libFuzzer's own changes, which know what the code compares with.
std::string change_freely(std::string bytes, size_t most) {
  const size_t size = bytes.size();
  bytes.resize(std::max(size, most));
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), size, most));
  return bytes;
}

}  // namespace
}  // namespace mica::fuzz

using namespace mica::fuzz;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  namespace fs = std::filesystem;
  static const mica::TempFolder folder("mica-fuzz");
  (void)rare_models(folder.path());  // the data that some of the seeds refer to
  begin_attempts(folder.path());
  for (int i = 1; i < *argc; ++i)
    if ((*argv)[i][0] != '-' && fs::is_directory((*argv)[i])) read_seeds((*argv)[i]);
  if (target.seeds.empty()) target.seeds.emplace_back("");
  target.counts = std::make_unique<Counts>(std::getenv("MICA_FUZZ_COUNTS"));
  signal(SIGPROF, too_slow);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const uint64_t hash = hash_of(bytes);
  Random random(hash);
  limit_time(kCpuSeconds);
  const int64_t begin = mica::process_cpu_ns();
  const Stage stage = attempt(bytes, kKind, random);
  const int64_t ns = mica::process_cpu_ns() - begin;
  limit_time(0);
  if (stage == (kKind == Kind::kMica ? Stage::kLoad : Stage::kImport)) target.refused.insert(hash);
  if (!target.mutated) return 0;
  target.mutated = false;
  target.counts->add(stage);
  target.counts->longest(ns);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  Random random(seed);
  target.mutated = true;
  const std::string base = base_of({reinterpret_cast<const char*>(data), size}, random);
  for (int i = 0; i < 8; ++i) {
    const std::string made = kKind != Kind::kOnnx && random() % 8 == 0 ? change_freely(base, max_size)
                                                                       : changed(base, kKind, any_seed(random), random);
    if (made.empty() || made.size() > max_size) continue;
    std::memcpy(data, made.data(), made.size());
    return made.size();
  }
  return size;
}
