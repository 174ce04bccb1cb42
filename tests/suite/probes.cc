#include "probes.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace mica::suite {
namespace {

#if defined(__x86_64__)
constexpr uint8_t kBreak[] = {0xcc};  // int3: the processor stops behind it
uintptr_t stopped_at(const ucontext_t& context) {
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]) - 1;
}
void go_to(ucontext_t& context, uintptr_t at) { context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(at); }
#elif defined(__aarch64__)
constexpr uint8_t kBreak[] = {0x00, 0x00, 0x20, 0xd4};  // brk #0: the processor stops at it
uintptr_t stopped_at(const ucontext_t& context) { return context.uc_mcontext.pc; }
void go_to(ucontext_t&, uintptr_t) {}
#endif

// What the signal handler sees: plain memory that is made once and stays.
struct Place {
  uint8_t* address;
  uint8_t original[sizeof kBreak];
};
struct State {
  Place* places = nullptr;
  int count = 0;
  int* met = nullptr;
  std::atomic<int> met_count{0};
};
State state;

// The thread sanitizer keeps no account of code, and must not look for it: these two touch code bare of its checks.
// `volatile` keeps the loops from becoming calls that it watches.
__attribute__((no_sanitize("thread"))) void copy_code(volatile uint8_t* to, const volatile uint8_t* from) {
  for (size_t i = 0; i < sizeof kBreak; ++i) to[i] = from[i];
}
__attribute__((no_sanitize("thread"))) bool is_break(const volatile uint8_t* code) {
  bool same = true;
  for (size_t i = 0; i < sizeof kBreak; ++i) same = same && code[i] == kBreak[i];
  return same;
}

void write(uint8_t* address, const uint8_t* instruction) {
  copy_code(address, instruction);
  auto* code = reinterpret_cast<char*>(address);
  __builtin___clear_cache(code, code + sizeof kBreak);
}

// A thread that meets a breakpoint which another has just removed finds its place too, and goes on.
void on_trap(int, siginfo_t*, void* opaque) {
  auto& context = *static_cast<ucontext_t*>(opaque);
  const uintptr_t at = stopped_at(context);
  const auto before = [](const Place& place, uintptr_t address) {
    return reinterpret_cast<uintptr_t>(place.address) < address;
  };
  Place* end = state.places + state.count;
  Place* place = std::lower_bound(state.places, end, at, before);
  if (place == end || reinterpret_cast<uintptr_t>(place->address) != at) {
    signal(SIGTRAP, SIG_DFL);  // a stop of somebody else's: it ends the program when it comes again
    return;
  }
  if (is_break(place->address)) {
    write(place->address, place->original);
    const int index = state.met_count.fetch_add(1);
    if (index < state.count) state.met[index] = static_cast<int>(place - state.places);
  }
  go_to(context, at);
}

}  // namespace

Probes& Probes::get() {
  static Probes probes;
  return probes;
}

Probes::Probes() : symbols_(kernel_symbols()) {
  if (symbols_.empty() || !open_memory()) return;
  state.places = new Place[symbols_.size()];
  state.met = new int[symbols_.size()];
  for (const KernelSymbol& symbol : symbols_) {
    Place& place = state.places[state.count++];
    place.address = symbol.address;
    copy_code(place.original, symbol.address);
  }
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGTRAP, &action, nullptr) != 0) return;
  for (int i = 0; i < state.count; ++i) write(state.places[i].address, kBreak);
  working_ = true;
}

// The pages of the kernels may be written from here on.
bool Probes::open_memory() {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(symbols_.front().address) / page * page;
  const uintptr_t last = reinterpret_cast<uintptr_t>(symbols_.back().address) + sizeof kBreak - 1;
  const uintptr_t end = (last / page + 1) * page;
  return mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

void Probes::arm() {
  for (int index : met()) write(state.places[index].address, kBreak);
  state.met_count = 0;
}

std::span<const int> Probes::met() const {
  return {state.met, static_cast<size_t>(std::min<int>(state.met_count, state.count))};
}

}  // namespace mica::suite
