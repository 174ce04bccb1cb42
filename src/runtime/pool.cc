#include <algorithm>
#include <cstring>

#include "runtime/bound.h"

namespace mica {

Pool::~Pool() {
  for (Block& block : blocks_) deallocate(block.data);
}

void Pool::reset() {
  for (Block& block : blocks_) {
    std::memset(block.data, 0, block.used);
    block.used = 0;
  }
  current_ = 0;
}

void* Pool::take(size_t bytes, size_t align) {
  constexpr size_t kBlock = 32 << 10;
  if (bytes > static_cast<size_t>(PTRDIFF_MAX) / 2) return nullptr;
  for (; current_ < blocks_.size(); ++current_) {
    Block& block = blocks_[current_];
    const size_t at = round_up(block.used, align);
    if (at + bytes <= block.size) {
      block.used = at + bytes;
      return block.data + at;
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
  current_ = blocks_.size() - 1;
  total_ += size;
  return data;
}

}  // namespace mica
