#include "heap.h"

#include <atomic>
#include <cerrno>
#include <climits>
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
std::atomic<long> count{0}, blocks{0};
long failing = LONG_MAX;
bool all_after = false;

bool fails() {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const long n = count.fetch_add(1) + 1;
  if (n != failing && !(all_after && n > failing)) return false;
  errno = ENOMEM;
  return true;
}
void* counted(void* place) {
  if (place) blocks.fetch_add(1, std::memory_order_relaxed);
  return place;
}
}  // namespace

extern "C" {
void* malloc(size_t bytes) { return fails() ? nullptr : counted(__libc_malloc(bytes)); }
void* calloc(size_t n, size_t bytes) { return fails() ? nullptr : counted(__libc_calloc(n, bytes)); }
void* realloc(void* old, size_t bytes) {
  if (fails()) return nullptr;
  void* place = __libc_realloc(old, bytes);
  return old ? place : counted(place);
}
void* memalign(size_t align, size_t bytes) { return fails() ? nullptr : counted(__libc_memalign(align, bytes)); }
void* aligned_alloc(size_t align, size_t bytes) { return memalign(align, bytes); }
int posix_memalign(void** out, size_t align, size_t bytes) {
  *out = memalign(align, bytes);
  return *out ? 0 : ENOMEM;
}
void free(void* place) {
  if (place) blocks.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(place);
}
}

namespace mica::faults {
void fail_at(long n, bool and_after) {
  count = 0;
  failing = n;
  all_after = and_after;
  armed = true;
}
long stop_failing() {
  armed = false;
  return count;
}
long held_blocks() { return blocks; }
}  // namespace mica::faults
