// The C library's allocation functions, counted while `armed`. They stand before the library's own in the program.
#include "heap.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {
std::atomic<bool> armed{false};
std::atomic<long> count{0};
void note() {
  if (armed.load(std::memory_order_relaxed)) count.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

extern "C" {
void* malloc(size_t bytes) {
  note();
  return __libc_malloc(bytes);
}
void* calloc(size_t n, size_t bytes) {
  note();
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, size_t bytes) {
  note();
  return __libc_realloc(old, bytes);
}
void* memalign(size_t align, size_t bytes) {
  note();
  return __libc_memalign(align, bytes);
}
void* aligned_alloc(size_t align, size_t bytes) {
  note();
  return __libc_memalign(align, bytes);
}
int posix_memalign(void** out, size_t align, size_t bytes) {
  note();
  *out = __libc_memalign(align, bytes);
  return *out ? 0 : ENOMEM;
}
void free(void* place) { __libc_free(place); }
}

namespace mica::soak {
void count_allocations() {
  count = 0;
  armed = true;
}
long allocations() {
  armed = false;
  return count;
}
}  // namespace mica::soak
