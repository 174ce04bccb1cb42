#include "heap.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace {
constexpr long kMost = 1L << 30;
std::atomic<bool> watching{false};
std::atomic<long> held{0}, most{0};
void grow(size_t bytes) {
  if (!watching.load(std::memory_order_relaxed)) return;
  const bool huge = bytes > static_cast<size_t>(kMost);
  const long now = huge ? 0 : held.fetch_add(static_cast<long>(bytes)) + static_cast<long>(bytes);
  if (now > most.load(std::memory_order_relaxed)) most = now;
  if (!huge && now <= kMost) return;
  watching = false;
#ifdef __SANITIZE_ADDRESS__
  std::abort();  // the place matters: run under a debugger
#else
  _exit(mica::mutate::kTooMuchMemory);
#endif
}
void shrink(size_t bytes) {
  if (watching.load(std::memory_order_relaxed)) held.fetch_sub(static_cast<long>(bytes));
}
void begin() {
  held = 0;
  most = 0;
  watching = true;
}
}  // namespace

namespace mica::mutate {
void unwatch_memory() { watching = false; }
long most_held_bytes() { return most; }
}  // namespace mica::mutate

#ifdef __SANITIZE_ADDRESS__
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
namespace mica::mutate {
void watch_memory() {
  static bool installed = false;
  if (!installed)
    __sanitizer_install_malloc_and_free_hooks([](const volatile void*, size_t bytes) { grow(bytes); },
                                              [](const volatile void* p) {
                                                if (p) shrink(__sanitizer_get_allocated_size(p));
                                              });
  installed = true;
  begin();
}
bool find_leaks() { return __lsan_do_recoverable_leak_check() != 0; }
}  // namespace mica::mutate
#else
#include <malloc.h>
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
void* malloc(size_t bytes) {
  grow(bytes);
  return __libc_malloc(bytes);
}
void* calloc(size_t n, size_t bytes) {
  size_t product;
  grow(__builtin_mul_overflow(n, bytes, &product) ? 0 : product);
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, size_t bytes) {
  if (old) shrink(malloc_usable_size(old));
  grow(bytes);
  return __libc_realloc(old, bytes);
}
void* memalign(size_t align, size_t bytes) {
  grow(bytes);
  return __libc_memalign(align, bytes);
}
void* aligned_alloc(size_t align, size_t bytes) {
  grow(bytes);
  return __libc_memalign(align, bytes);
}
void free(void* place) {
  if (place) shrink(malloc_usable_size(place));
  __libc_free(place);
}
}
namespace mica::mutate {
void watch_memory() { begin(); }
bool find_leaks() { return false; }
}  // namespace mica::mutate
#endif
