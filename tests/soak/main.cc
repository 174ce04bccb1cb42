// soak [--full] [--model digits.onnx]: what must not grow with time: memory over runs, loads and shapes, allocations in
// a run, and processor time after one. MICA_MODELS names a folder of models (onnx/<name>/*.onnx) for the allocation
// counts. Each check prints one line; the last is `N passed, N failed`.
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>

#include "base/memory.h"
#include "base/threads.h"
#include "convert/convert.h"
#include "ir/text.h"
#include "plan/file.h"
#include "runtime/load.h"
#include "runtime/session.h"
#include "support/heap.h"

namespace mica::soak {
namespace {

constexpr double kMaxDrift = 1 << 20;  // bytes; the requirement
int passed = 0, failed = 0;

void verdict(bool good, const std::string& what) {
  std::printf("%-6s %s\n", good ? "ok" : "FAILED", what.c_str());
  std::fflush(stdout);
  good ? ++passed : ++failed;
}

[[noreturn]] void stop(const Error& error) {
  char text[2048];
  error.print(text, sizeof text);
  std::fputs(text, stderr);
  std::exit(3);
}
template <class T>
T need(Result<T> result) {
  if (!result.ok()) stop(result.error());
  return result.take();
}
void need(const Status& status) {
  if (!status.ok()) stop(status.error());
}

struct Use {
  size_t heap, resident;
};
Use memory_use() {
  long pages = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  const struct mallinfo2 info = mallinfo2();
  return {info.uordblks + info.hblkhd, static_cast<size_t>(resident) * static_cast<size_t>(sysconf(_SC_PAGESIZE))};
}

// `step` i times; growth counts from the end of the warm-up, when caches (of 32 shapes) are full.
void check_drift(const std::string& name, int times, const std::function<void(int)>& step) {
  Use begin{};
  const int warm_up = std::min(times / 2, 100);
  for (int i = 0; i < times; ++i) {
    if (i == warm_up) {
      malloc_trim(0);
      begin = memory_use();
    }
    step(i);
  }
  malloc_trim(0);
  const Use end = memory_use();
  const double heap = static_cast<double>(end.heap) - static_cast<double>(begin.heap);
  const double resident = static_cast<double>(end.resident) - static_cast<double>(begin.resident);
  char text[200];
  std::snprintf(text, sizeof text, "%s: %d times, heap %+.1f KiB, resident %+.1f KiB", name.c_str(), times, heap / 1024,
                resident / 1024);
  verdict(heap < kMaxDrift && resident < kMaxDrift, text);
}

class MemorySink final : public Sink {
 public:
  Status write(Bytes bytes) override {
    data.insert(data.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::vector<std::byte> data;
};

// A model in memory, with a session and filled inputs.
class Running {
 public:
  Running(Context& context, Lowered lowered) : keep_(lowered.keep) {
    model = need(Model::create(context, std::move(lowered.plan), {}));
    begin();
  }
  explicit Running(Model* loaded) : model(loaded) { begin(); }
  ~Running() {
    Session::destroy(session);
    model->drop();
  }
  Running(const Running&) = delete;

  bool fixed() const {
    for (size_t i = 0; i < session->input_count(); ++i)
      if (!session->input_type(i).is_tensor() || !session->input_type(i).shape.fixed()) return false;
    return true;
  }
  void feed(int64_t open) {
    inputs_.clear();
    for (size_t i = 0; i < session->input_count(); ++i) {
      const Type& type = session->input_type(i);
      std::vector<int64_t> dims;
      for (Dim d : type.shape.span()) dims.push_back(d.is_fixed() ? d.value() : open);
      inputs_.push_back(need(OwnedTensor::make(type.dtype, dims)));
      const TensorView& view = inputs_.back().view();
      std::memset(view.data, 0, static_cast<size_t>(dense_bytes(view.dtype, view.shape())));
      need(session->set_input(i, view));
    }
  }
  void run() { need(session->run()); }

  Model* model = nullptr;
  Session* session = nullptr;

 private:
  void begin() { session = need(Session::create(*model)); }
  std::shared_ptr<const void> keep_;
  std::vector<OwnedTensor> inputs_;
};

Lowered lowered_model(const std::string& path) {
  ConvertReport report;
  Source source;
  source.path = path;
  return need(convert(source, {}, report));
}

constexpr const char* kAnyShape = R"(graph "any"
  symbol H input
  input %x: f32[1,2,H,H] "x"
  constant %w: f32[4,2,1,1] = {1, -1, 0.5, 2, 3, 0.25, -2, 1}
  constant %i: i64[1] = {-1}
  %a = conv(%x, %w)
  %b = relu(%a)
  %c = max_pool(%b) kernel=[3,3], pads=[1,1,1,1]
  %d = concat(%b, %c) axis=1
  %e = softmax(%d)
  %y = reduce(%e, %i) kind=mean
  output %y "y"
end
)";

void check_growth(Context& context, const std::string& digits, bool full) {
  {
    Running running(context, lowered_model(digits));
    running.feed(1);
    check_drift("runs", full ? 10000 : 1000, [&](int) { running.run(); });
  }
  MemorySink file;
  {
    const Lowered lowered = lowered_model(digits);
    need(write_plan(lowered.plan, file));
  }
  check_drift("load, run, unload", full ? 1000 : 100, [&](int) {
    Running running(need(load_model_from_memory(context, {file.data.data(), file.data.size()}, true)));
    running.feed(1);
    running.run();
  });
  ConvertReport report;
  Running running(context, need(compile(graph_from_text(kAnyShape), {}, report)));
  std::mt19937 random(1);
  check_drift("random shapes", full ? 1000 : 200, [&](int i) {
    const int64_t open = i == 0 ? 48 : 1 + static_cast<int64_t>(random() % 48);
    running.feed(open);
    running.run();
  });
}

void check_allocations(const std::string& name, Running& running) {
  running.feed(1);
  running.run();
  running.run();
  heap::count_requests();
  running.run();
  const long n = heap::stop_counting();
  verdict(n == 0, name + ": " + std::to_string(n) + " allocations in a run");
}

void check_counter() {
  heap::count_requests();
  void* place = allocate(100);
  const long n = heap::stop_counting();
  deallocate(place);
  verdict(place && n == 1, "the counter sees an allocation");
}

void check_all_allocations(Context& context, const std::string& digits) {
  check_counter();
  {
    Running running(context, lowered_model(digits));
    check_allocations("digits", running);
    ConvertReport report;
    Running any(context, need(compile(graph_from_text(kAnyShape), {}, report)));
    check_allocations("a bound shape", any);
  }
  const char* folder = std::getenv("MICA_MODELS");
  if (!folder) {
    std::puts("       MICA_MODELS is not set: real models were left out");
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder) / "onnx"))
    for (const auto& file : std::filesystem::directory_iterator(entry.path())) {
      if (file.path().extension() != ".onnx") continue;
      Running running(context, lowered_model(file.path().string()));
      if (running.fixed()) check_allocations(entry.path().filename().string(), running);
      break;
    }
}

double processor_ms() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

void check_idle(Context& context, const std::string& digits) {
  Running running(context, lowered_model(digits));
  running.feed(1);
  for (int i = 0; i < 20; ++i) running.run();
  usleep(10'000);
  const double begin = processor_ms();
  usleep(1'000'000);
  const double spent = processor_ms() - begin;
  verdict(spent < 1,
          "idle: " + std::to_string(spent) + " ms of processor time in the second that begins 10 ms after a run");
}

int main_of(int argc, char** argv) {
  bool full = false;
  std::string digits = "examples/digits/digits.onnx";
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--full"))
      full = true;
    else if (!std::strcmp(argv[i], "--model") && i + 1 < argc)
      digits = argv[++i];
    else
      return std::fputs("usage: soak [--full] [--model digits.onnx]\n", stderr), 2;
  }
  Context context;
  context.machine = need(describe_machine({}));
  Threads threads = need(Threads::create({.threads = 3}));
  context.threads = &threads;
  check_growth(context, digits, full);
  check_all_allocations(context, digits);
  check_idle(context, digits);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace mica::soak

int main(int argc, char** argv) { return mica::soak::main_of(argc, argv); }
