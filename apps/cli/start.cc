#include "start.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "table.h"
#include "verbs.h"

namespace mica::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kRuns = 20;

// What a process tells its parent.
struct Start {
  double load_ms = 0, first_ms = 0, run_ms = 0;  // run_ms: the fastest of kRuns
  int64_t peak = 0;                              // bytes above the process before it loaded the model
  mica_memory memory = MICA_INIT(mica_memory);
};

template <class F>
double ms_of(F f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// The model is loaded once before, for its inputs alone: a file is then in the page cache.
Start measure(const ModelFlags& flags, const Feed& feed) {
  Start made;
  const int64_t before = tools::peak_rss_bytes();
  const Context context = flags.context();
  std::optional<Model> model;
  made.load_ms = ms_of([&] { model = flags.load(context); });
  Session session = take(model->session(flags.session_options()));
  feed.set(session);
  made.first_ms = ms_of([&] {
    made.memory = take(session.prepare());
    check(session.run());
  });
  made.peak = tools::peak_rss_bytes() - before;
  made.run_ms = made.first_ms;
  for (int i = 0; i < kRuns; ++i) {
    check(session.reset());  // every run from the same states
    feed.set(session);
    made.run_ms = std::min(made.run_ms, ms_of([&] { check(session.run()); }));
  }
  return made;
}

// How a process ended that told nothing: it has said why itself, unless a signal ended it.
[[noreturn]] void fail_as(int status) {
  if (WIFEXITED(status)) throw Failed(WEXITSTATUS(status), "");
  throw Failed(kModel,
               fmt::format("error[MICA7002]: signal {} ended the process that measured the start\n", WTERMSIG(status)));
}

[[noreturn]] void fail_system(const char* what, int reason) {
  throw Failed(kModel, fmt::format("error[MICA7002]: cannot {}: {}\n", what, std::generic_category().message(reason)));
}

// In a child: what it leaves behind is its exit code.
int tell(int to, const ModelFlags& flags, const Feed& feed) {
  try {
    const Start made = measure(flags, feed);
    return ::write(to, &made, sizeof made) == static_cast<ssize_t>(sizeof made) ? kOk : kModel;
  } catch (const Failed& failed) {
    complain(failed.what());
    return failed.exit;
  } catch (const std::exception& failed) {
    complain(std::string("error[MICA1099]: ") + failed.what() + "\n");
    return kModel;
  }
}

// A fresh process's peak is its own: what the parent or an earlier model took does not hide it.
Start in_a_process(const ModelFlags& flags, const Feed& feed) {
  int ends[2];
  if (::pipe(ends) != 0) fail_system("make a pipe", errno);
  const pid_t child = ::fork();
  if (child < 0) fail_system("start a process", errno);
  if (child == 0) ::_exit(tell(ends[1], flags, feed));
  Start made;
  ::close(ends[1]);
  const bool whole = ::read(ends[0], &made, sizeof made) == static_cast<ssize_t>(sizeof made);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!whole) fail_as(status);
  return made;
}

// Inputs need the model's description; the model itself goes before the processes start.
Feed feed_of(const ModelFlags& flags, const InputFlags& input) {
  ModelFlags alone = flags;
  alone.threads = 1;  // no workers that a new process would not have
  const Context context = alone.context();
  return make_feed(alone.load(context), input);
}

}  // namespace

int measure_start(const ModelFlags& model, const InputFlags& input, const std::string& format) {
  const Feed feed = feed_of(model, input);
  Json rows = Json::array();
  Table table;
  table.column("memory");
  for (const char* title :
       {"load ms", "first run ms", "run ms", "peak", "promised", "arena", "weights", "made of them"})
    table.column(title, Table::Align::kRight);
  for (const char* mode : {"full", "low"}) {
    ModelFlags flags = model;
    flags.memory = mode;
    const Start s = in_a_process(flags, feed);
    const size_t promised = s.memory.total + s.memory.weights;  // the peak as the prepared session knows it
    const auto mib = [](auto bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); };
    table.row({mode, fmt::format("{:.2f}", s.load_ms), fmt::format("{:.2f}", s.first_ms),
               fmt::format("{:.2f}", s.run_ms), mib(s.peak), mib(promised), mib(s.memory.arena), mib(s.memory.weights),
               mib(s.memory.packed_weights)});
    rows.push_back({{"memory", mode},
                    {"load_ms", s.load_ms},
                    {"first_ms", s.first_ms},
                    {"run_ms", s.run_ms},
                    {"peak_bytes", s.peak},
                    {"promised_bytes", promised},
                    {"arena_bytes", s.memory.arena},
                    {"weight_bytes", s.memory.weights},
                    {"packed_bytes", s.memory.packed_weights}});
  }
  if (format == "json")
    put("{}\n", rows.dump(2));
  else
    put("{}", table.text(format));
  return kOk;
}

}  // namespace mica::cli
