#include "base/trace.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/log.h"
#include "base/threads.h"

namespace mica {
namespace {

std::vector<TraceEvent> events(const Trace& trace) {
  std::vector<TraceEvent> out;
  trace.for_each([&](const TraceEvent& event) { out.push_back(event); });
  return out;
}

TEST(Traces, OffRecordsNothing) {
  Trace trace = Trace::create(10).take();
  trace.begin("a");
  { const TraceScope scope(&trace, "b"); }
  { const TraceScope scope(nullptr, "c"); }
  EXPECT_TRUE(events(trace).empty());
}

TEST(Traces, ScopesAndMarks) {
  Trace trace = Trace::create(10).take();
  trace.switch_on(true);
  const int64_t before = now_ns();
  trace.begin("run");
  { const TraceScope scope(&trace, "conv", 3, 17); }
  trace.end("run");
  const auto seen = events(trace);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].kind, TraceKind::kBegin);
  EXPECT_EQ(seen[1].name, "conv");
  EXPECT_EQ(seen[1].thread, 3);
  EXPECT_EQ(seen[1].value, 17);
  EXPECT_GE(seen[1].start_ns, before);
  EXPECT_GE(seen[1].duration_ns, 0);
  EXPECT_LE(seen[1].start_ns + seen[1].duration_ns, seen[2].start_ns);
  trace.clear();
  EXPECT_TRUE(events(trace).empty());
}

TEST(Traces, KeepsTheLatest) {
  Trace trace = Trace::create(4).take();
  trace.switch_on(true);
  for (int64_t i = 0; i < 11; ++i) trace.record({.name = "x", .value = i});
  const auto seen = events(trace);
  ASSERT_EQ(seen.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(seen[i].value, static_cast<int64_t>(7 + i));
  EXPECT_EQ(trace.lost(), 7u);
}

TEST(Traces, ManyThreads) {
  auto threads = Threads::create({.threads = 4});
  ASSERT_TRUE(threads.ok());
  for (size_t capacity : {size_t{1}, size_t{3}, size_t{4096}}) {
    Trace trace = Trace::create(capacity).take();
    trace.switch_on(true);
    threads->run(1000, [&](int64_t begin, int64_t end, int worker) {
      for (int64_t i = begin; i < end; ++i) trace.record({.name = "t", .start_ns = i, .value = -i, .thread = worker});
    });
    const auto seen = events(trace);
    EXPECT_LE(seen.size(), capacity);
    for (const TraceEvent& event : seen) EXPECT_EQ(event.start_ns, -event.value);
    EXPECT_TRUE(capacity < 4096 || seen.size() == 1000);
  }
}

TEST(Logs, LevelsAndTexts) {
  std::vector<std::string> seen;
  Log log;
  log.warning("nobody hears {}", 1);
  log.user = &seen;
  log.fn = [](void* user, LogLevel level, std::string_view text) {
    static_cast<std::vector<std::string>*>(user)->push_back(std::string(name_of(level)) + ": " + std::string(text));
  };
  log.warning("{} of {}", 2, "b");
  log.debug("dropped");
  log.info("{}", std::string(3000, 'x'));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], "warning: 2 of b");
  EXPECT_EQ(seen[1], "info: " + std::string(1023, 'x'));
}

}  // namespace
}  // namespace mica
