#include <algorithm>
#include <cstring>

#include "runtime/bound.h"

namespace mica {

Pool::~Pool() {
  for (Block& block : blocks_) deallocate(block.data);
}

void* Pool::take(size_t bytes, size_t align) {
  constexpr size_t kBlock = 32 << 10;
  if (bytes > static_cast<size_t>(PTRDIFF_MAX) / 2) return nullptr;
  if (!blocks_.empty()) {
    Block& last = blocks_.back();
    const size_t at = round_up(last.used, align);
    if (at + bytes <= last.size) {
      last.used = at + bytes;
      return last.data + at;
    }
  }
  const size_t size = std::max(kBlock, round_up(bytes, kCacheLine));
  char* data = static_cast<char*>(allocate(size, kCacheLine));
  if (!data) return nullptr;
  std::memset(data, 0, size);
  if (!blocks_.push_back({data, size, bytes}).ok()) {
    deallocate(data);
    return nullptr;
  }
  total_ += size;
  return data;
}

}  // namespace mica
