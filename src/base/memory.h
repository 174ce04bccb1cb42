// Raw memory that reports failure by returning null. Everything that the runtime allocates goes through here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace mica {

inline constexpr size_t kCacheLine = 64;  // also the widest vector of any supported instruction set

inline size_t round_up(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// `align` is a power of two. The result is released with `deallocate`. Null when memory is short or `bytes` overflows.
inline void* allocate(size_t bytes, size_t align = alignof(std::max_align_t)) {
  if (bytes > static_cast<size_t>(PTRDIFF_MAX) - align) return nullptr;
  if (align <= alignof(std::max_align_t)) return std::malloc(bytes ? bytes : 1);
  return std::aligned_alloc(align, round_up(bytes ? bytes : 1, align));
}
inline void deallocate(void* p) { std::free(p); }

}  // namespace mica
