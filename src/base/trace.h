// Recording when things began and ended, into memory set aside beforehand; tools turn it into a Chrome or Perfetto
// trace.
//
// Recording is thread-safe, allocates nothing, and costs two clock reads and a few stores; switched off, one load. When
// the memory is full the oldest events are overwritten. Reading is for when nobody records.
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/os.h"
#include "base/vector.h"

namespace mica {

enum class TraceKind : uint8_t { kBegin, kEnd, kComplete, kInstant };

struct TraceEvent {
  std::string_view name;    // not copied: must live until the events are read
  int64_t start_ns = 0;     // of `now_ns`
  int64_t duration_ns = 0;  // of kComplete
  int64_t value = -1;       // what it is about: a stage, a byte count; -1 for nothing
  int32_t thread = 0;       // worker index
  TraceKind kind = TraceKind::kComplete;
};

class Trace {
 public:
  // Room for `capacity` events, at least one. Starts switched off.
  static Result<Trace> create(size_t capacity) {
    Trace made;
    MICA_TRY_STATUS(made.slots_.resize(capacity > 0 ? capacity : 1));
    return made;
  }
  Trace(Trace&& other) noexcept : slots_(std::move(other.slots_)), next_(other.next_.load()), on_(other.on_.load()) {}
  Trace& operator=(Trace&&) = delete;

  bool on() const { return on_.load(std::memory_order_relaxed); }
  void switch_on(bool on) { on_.store(on, std::memory_order_relaxed); }

  void record(const TraceEvent& event) {
    if (!on()) return;
    Slot& slot = slots_[next_.fetch_add(1, std::memory_order_relaxed) % slots_.size()];
    // Two writers meet in a slot only when one stalled for a whole round: the later event is dropped then.
    if (slot.busy.exchange(true, std::memory_order_acquire)) return;
    slot.event = event;
    slot.used = true;
    slot.busy.store(false, std::memory_order_release);
  }
  void begin(std::string_view name, int32_t thread = 0) { mark(name, thread, TraceKind::kBegin); }
  void end(std::string_view name, int32_t thread = 0) { mark(name, thread, TraceKind::kEnd); }
  void instant(std::string_view name, int32_t thread = 0) { mark(name, thread, TraceKind::kInstant); }

  // Events that were overwritten or came too close together.
  uint64_t lost() const {
    const uint64_t count = next_.load();
    return count > slots_.size() ? count - slots_.size() : 0;
  }
  // fn(const TraceEvent&), oldest first in the order of recording; an event of kComplete is recorded when it ends.
  template <class F>
  void for_each(const F& fn) const {
    const uint64_t count = next_.load();
    for (uint64_t i = count > slots_.size() ? count - slots_.size() : 0; i < count; ++i) {
      const Slot& slot = slots_[i % slots_.size()];
      if (slot.used) fn(slot.event);
    }
  }
  void clear() {
    next_.store(0);
    for (Slot& slot : slots_) slot.used = false;
  }

 private:
  struct Slot {
    TraceEvent event;
    bool used = false;
    std::atomic<bool> busy{false};
    Slot() = default;
    Slot(Slot&& other) noexcept : event(other.event), used(other.used) {}
  };
  Trace() = default;
  void mark(std::string_view name, int32_t thread, TraceKind kind) {
    if (on()) record({.name = name, .start_ns = now_ns(), .thread = thread, .kind = kind});
  }

  Vector<Slot> slots_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> on_{false};
};

// Records its own lifetime as one event; `trace` may be null.
class TraceScope {
 public:
  TraceScope(Trace* trace, std::string_view name, int32_t thread = 0, int64_t value = -1)
      : trace_(trace && trace->on() ? trace : nullptr) {
    if (trace_) event_ = {.name = name, .start_ns = now_ns(), .value = value, .thread = thread};
  }
  ~TraceScope() {
    if (!trace_) return;
    event_.duration_ns = now_ns() - event_.start_ns;
    trace_->record(event_);
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* trace_;
  TraceEvent event_;
};

}  // namespace mica
