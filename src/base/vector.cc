#include "base/vector.h"

#include <cstring>
#include <functional>

namespace mica {

void* VectorBytes::memory_for(size_t n, Element element) {
  return n > static_cast<size_t>(PTRDIFF_MAX) / element.size ? nullptr : allocate(n * element.size, element.align);
}

Status VectorBytes::reserve_bytes(size_t n, Element element) {
  if (n <= capacity_) return {};
  void* fresh = memory_for(n, element);
  if (!fresh) return out_of_memory();
  if (size_) std::memcpy(fresh, data_, size_ * element.size);
  deallocate(data_);
  data_ = fresh;
  capacity_ = n;
  return {};
}

Status VectorBytes::grow_bytes(size_t n, Element element) {
  return grow_with(n, [&](size_t count) { return reserve_bytes(count, element); });
}

Status VectorBytes::append_bytes(const void* items, size_t count, Element element) {
  if (!count) return {};
  const char *begin = static_cast<const char*>(data_), *from = static_cast<const char*>(items);
  const bool own =
      std::less_equal<const char*>()(begin, from) && std::less<const char*>()(from, begin + size_ * element.size);
  const size_t offset = own ? static_cast<size_t>(from - begin) : 0;
  MICA_TRY_STATUS(grow_bytes(size_ + count, element));
  char* data = static_cast<char*>(data_);
  std::memcpy(data + size_ * element.size, own ? data + offset : from, count * element.size);
  size_ += count;
  return {};
}

}  // namespace mica
