#include "support/heap.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// Of the cap.
std::atomic<bool> capped{false};
std::atomic<long> held{0}, most{0};
long limit = 0;

void grow(size_t bytes) {
  if (!capped.load(kRelaxed)) return;
  const bool huge = bytes > static_cast<size_t>(limit);
  const long now = huge ? 0 : held.fetch_add(static_cast<long>(bytes)) + static_cast<long>(bytes);
  if (now > most.load(kRelaxed)) most = now;
  if (!huge && now <= limit) return;
  capped = false;
#ifdef MICA_SANITIZED
  std::abort();  // the place matters: run under a debugger
#else
  _exit(mica::heap::kTooMuchMemory);
#endif
}
void shrink(size_t bytes) {
  if (capped.load(kRelaxed)) held.fetch_sub(static_cast<long>(bytes));
}
void begin_cap(long bytes) {
  limit = bytes;
  held = 0;
  most = 0;
  capped = true;
}

}  // namespace

namespace mica::heap {
void uncap() { capped = false; }
long most_held_bytes() { return most; }
}  // namespace mica::heap

#ifdef MICA_SANITIZED
extern "C" {
int __lsan_do_recoverable_leak_check();
size_t __sanitizer_get_allocated_size(const volatile void*);
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, size_t), void (*)(const volatile void*));
// A request above the limit is reported with the place that made it.
const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:detect_leaks=1:leak_check_at_exit=0:allocator_may_return_null=0";
}
const char* __ubsan_default_options() { return "print_stacktrace=1"; }
}
namespace mica::heap {
void cap_at(long bytes) {
  static const bool installed =
      __sanitizer_install_malloc_and_free_hooks([](const volatile void*, size_t n) { grow(n); },
                                                [](const volatile void* place) {
                                                  if (place) shrink(__sanitizer_get_allocated_size(place));
                                                }) != 0;
  static_cast<void>(installed);
  begin_cap(bytes);
}
bool find_leaks() { return __lsan_do_recoverable_leak_check() != 0; }
}  // namespace mica::heap
#else
#include <malloc.h>
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

// Of the counter.
std::atomic<bool> counting{false};
std::atomic<long> requests{0}, blocks{0};
long failing = LONG_MAX;
bool all_after = false;

// Whether a request for so many bytes may go on.
bool may(size_t bytes) {
  if (counting.load(kRelaxed)) {
    const long n = requests.fetch_add(1) + 1;
    if (n == failing || (all_after && n > failing)) {
      errno = ENOMEM;
      return false;
    }
  }
  grow(bytes);
  return true;
}
void* counted(void* place) {
  if (place) blocks.fetch_add(1, kRelaxed);
  return place;
}

}  // namespace

extern "C" {
void* malloc(size_t bytes) { return may(bytes) ? counted(__libc_malloc(bytes)) : nullptr; }
void* calloc(size_t n, size_t bytes) {
  size_t product;
  if (__builtin_mul_overflow(n, bytes, &product)) product = 0;
  return may(product) ? counted(__libc_calloc(n, bytes)) : nullptr;
}
void* realloc(void* old, size_t bytes) {
  const size_t before = old ? malloc_usable_size(old) : 0;
  if (!may(bytes)) return nullptr;
  shrink(before);
  void* place = __libc_realloc(old, bytes);
  return old ? place : counted(place);
}
void* memalign(size_t align, size_t bytes) { return may(bytes) ? counted(__libc_memalign(align, bytes)) : nullptr; }
void* aligned_alloc(size_t align, size_t bytes) { return memalign(align, bytes); }
int posix_memalign(void** out, size_t align, size_t bytes) {
  *out = memalign(align, bytes);
  return *out ? 0 : ENOMEM;
}
void free(void* place) {
  if (place) {
    blocks.fetch_sub(1, kRelaxed);
    shrink(malloc_usable_size(place));
  }
  __libc_free(place);
}
}

namespace mica::heap {
void fail_at(long n, bool and_after) {
  requests = 0;
  failing = n;
  all_after = and_after;
  counting = true;
}
void count_requests() { fail_at(LONG_MAX, false); }
long stop_counting() {
  counting = false;
  return requests;
}
long held_blocks() { return blocks; }
void cap_at(long bytes) { begin_cap(bytes); }
bool find_leaks() { return false; }
}  // namespace mica::heap
#endif
