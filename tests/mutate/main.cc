// mutate [--files N] [--seconds S] [--first I] [--seed K] [--save FOLDER] SEED...: damaged ONNX and .mica files through
// import, conversion, loading, binding and a run. No file may crash the program, hang it (10 s) or make it hold more
// than 1 GiB. SEED: a file or a folder of files; small models made here come with them. Prints how far the files came;
// the last line is `N passed, N failed`.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/memory.h"
#include "base/os.h"
#include "change.h"
#include "convert/convert.h"
#include "convert/write.h"
#include "heap.h"
#include "runtime/load.h"
#include "runtime/session.h"
#include "seeds.h"

namespace mica::mutate {
namespace {

enum Reached { kConverting, kWriting, kLoading, kOpening, kFeeding, kRunning, kAccepted, kReachedCount };
constexpr const char* kReachedNames[] = {"refused by the importer or compiler",
                                         "not written",
                                         "refused by the loader",
                                         "no session",
                                         "inputs refused or not fed",
                                         "refused by the run",
                                         "ran"};

struct Options {
  long files = 2000, first = 0, seconds = 60;
  uint64_t seed = 1;
  std::string save;
  std::vector<std::string> seeds;
};

// What the children tell the parent.
struct Shared {
  long next;
  long reached[kReachedCount];
};

Context context;

Bytes view_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

bool is_mica(const std::string& bytes) { return looks_like_plan(view_of(bytes)) || bytes.find("MICA") == 1; }

// Small numbers, some of them outside what indices may be.
void fill(const TensorView& view, Random& random) {
  const size_t bytes = static_cast<size_t>(dense_bytes(view.dtype, view.shape()));
  auto* at = static_cast<unsigned char*>(view.data);
  if (view.dtype == DType::kString) return;
  if (view.dtype == DType::kF32)
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
      const float v = static_cast<float>(random() % 64) / 16 - 2;
      std::memcpy(at + i, &v, 4);
    }
  else if (view.dtype == DType::kBool)
    for (size_t i = 0; i < bytes; ++i) at[i] = random() % 2;
  else
    std::memset(at, random() % 4 == 0 ? 0xff : 0, bytes);
}

Reached run_model(Model& model, Random& random) {
  Result<Session*> made = Session::create(model, {.memory_cap = size_t{256} << 20});
  if (!made.ok()) return kOpening;
  Session* session = made.take();
  std::vector<OwnedTensor> inputs;
  Reached reached = kRunning;
  for (size_t i = 0; i < session->input_count() && reached == kRunning; ++i) {
    const Type& type = session->input_type(i);
    std::vector<int64_t> dims;
    double count = 1;
    if (type.is_tensor())
      for (Dim d : type.shape.span()) dims.push_back(d.is_fixed() ? d.value() : 1 + static_cast<int64_t>(random() % 3));
    for (int64_t d : dims) count *= static_cast<double>(d);
    reached = kFeeding;
    if (!type.is_tensor() || count >= (1 << 22)) break;
    Result<OwnedTensor> tensor = OwnedTensor::make(type.dtype, dims);
    if (!tensor.ok()) break;
    inputs.push_back(tensor.take());
    fill(inputs.back().view(), random);
    if (session->set_input(i, inputs.back().view()).ok()) reached = kRunning;
  }
  if (reached == kRunning && session->run({.deadline_ns = now_ns() + 3'000'000'000}).ok()) reached = kAccepted;
  Session::destroy(session);
  return reached;
}

Reached try_file(const std::string& bytes, Random& random) {
  std::vector<std::byte> file;
  if (is_mica(bytes)) {
    file.assign(view_of(bytes).begin(), view_of(bytes).end());
  } else {
    ConvertReport report;
    Source source;
    source.bytes = view_of(bytes);
    Result<Lowered> lowered = convert(source, {}, report);
    if (!lowered.ok()) return kConverting;
    const Lowered compiled = lowered.take();
    Result<std::vector<std::byte>> written = mica_bytes(compiled.plan);
    if (!written.ok()) return kWriting;
    file = written.take();
  }
  Result<Model*> loaded = load_model_from_memory(context, {file.data(), file.size()}, true);
  if (!loaded.ok()) return kLoading;
  Model* model = loaded.take();
  const Reached reached = run_model(*model, random);
  model->drop();
  return reached;
}

void add_file(const std::filesystem::path& path, std::vector<Seed>& seeds) {
  std::ifstream in(path, std::ios::binary);
  seeds.push_back({path.filename().string(), std::string{std::istreambuf_iterator<char>(in), {}}});
}

std::vector<Seed> all_seeds(const Options& options) {
  std::vector<Seed> seeds = made_models();
  for (const std::string& path : options.seeds)
    if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::directory_iterator(path))
        if (entry.is_regular_file() && entry.path().filename().string()[0] != '.') add_file(entry.path(), seeds);
    } else {
      add_file(path, seeds);
    }
  const size_t sources = seeds.size();
  for (size_t i = 0; i < sources; ++i) {
    if (is_mica(seeds[i].bytes) || seeds[i].name.starts_with("found-")) continue;
    ConvertReport report;
    Source source;
    source.bytes = view_of(seeds[i].bytes);
    Result<Lowered> lowered = convert(source, {}, report);
    char text[300] = "";
    if (!lowered.ok()) lowered.error().print(text, sizeof text);
    if (!lowered.ok()) std::printf("seed %s: %s\n", seeds[i].name.c_str(), text);
    if (!lowered.ok()) continue;
    const Lowered compiled = lowered.take();
    const std::vector<std::byte> bytes = mica_bytes(compiled.plan).take();
    seeds.push_back({seeds[i].name + ".mica", {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
  }
  return seeds;
}

// File i of a run; the first ones are the seeds themselves.
std::string file_of(const std::vector<Seed>& seeds, const Options& options, long i, Random& random) {
  random.seed(options.seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(i));
  if (i < static_cast<long>(seeds.size())) return seeds[static_cast<size_t>(i)].bytes;
  const Seed& seed = seeds[random() % seeds.size()];
  return is_mica(seed.bytes) ? change_mica(seed.bytes, random) : change_onnx(seed.bytes, random);
}

[[noreturn]] void child(const std::vector<Seed>& seeds, const Options& options, Shared& shared, long end,
                        int64_t stop_ns) {
  context.machine = describe_machine({}).take();
  while (shared.next < end && now_ns() < stop_ns) {
    Random random;
    const std::string bytes = file_of(seeds, options, shared.next, random);
    alarm(10);
    watch_memory();
    ++shared.reached[try_file(bytes, random)];
    ++shared.next;
  }
  _exit(0);
}

void report_failure(const std::vector<Seed>& seeds, const Options& options, long i, int status) {
  std::printf("FAILED file %ld of seed %llu: %s %d\n", i, static_cast<unsigned long long>(options.seed),
              WIFSIGNALED(status) ? "signal" : "exit status",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  std::fflush(stdout);
  if (options.save.empty()) return;
  Random random;
  std::ofstream out(options.save + "/found-" + std::to_string(options.seed) + "-" + std::to_string(i),
                    std::ios::binary);
  out << file_of(seeds, options, i, random);
}

int run(const Options& options) {
  const std::vector<Seed> seeds = all_seeds(options);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  Shared& shared = *new (memory) Shared{};
  shared.next = options.first;
  const long end = options.first + options.files;
  const int64_t stop_ns = now_ns() + options.seconds * 1'000'000'000;
  long failed = 0;
  while (shared.next < end && now_ns() < stop_ns) {
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) child(seeds, options, shared, end, stop_ns);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0) return 3;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    report_failure(seeds, options, shared.next, status);
    ++failed;
    ++shared.next;
  }
  long passed = 0;
  for (int r = 0; r < kReachedCount; ++r) {
    std::printf("%8ld %s\n", shared.reached[r], kReachedNames[r]);
    passed += shared.reached[r];
  }
  std::printf("%ld passed, %ld failed\n", passed, failed);
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
    else if (word == "--save" && more)
      options.save = argv[++i];
    else if (word.starts_with("--"))
      return std::fputs("usage: mutate [--files N] [--first I] [--seconds S] [--seed K] [--save FOLDER] SEED...\n",
                        stderr),
             2;
    else
      options.seeds.push_back(word);
  }
  return run(options);
}

}  // namespace
}  // namespace mica::mutate

int main(int argc, char** argv) { return mica::mutate::main_of(argc, argv); }
