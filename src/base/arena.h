// Memory for many small objects that end together. Only for types without destructors. Not thread-safe.
//
// Non-goals: freeing one object, and growing in place. Blocks double from `first_block` to kLargestBlock; a larger
// request gets a block of its own size.
#pragma once
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace mica {

class Arena {
 public:
  explicit Arena(size_t first_block = 4096) : next_size_(larger(first_block, kLeastBlock)) {}
  Arena(Arena&& other) noexcept : next_size_(other.next_size_) { swap(other); }
  Arena& operator=(Arena&& other) noexcept { return swap(other), *this; }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { release(); }

  // Not initialised; null when memory is short. `align` is a power of two. Zero bytes give a valid address too.
  void* allocate(size_t bytes, size_t align = alignof(std::max_align_t)) {
    if (bytes > kMost || align > kMost) return nullptr;
    for (; current_; current_ = current_->next) {  // blocks behind the current one are empty: kept by `reset`
      if (void* place = take(*current_, bytes, align)) return place;
      if (!current_->next) break;
      current_->next->used = 0;
    }
    Block* block = add_block(bytes + align);
    return block ? take(*block, bytes, align) : nullptr;
  }

  template <class T, class... Args>
  Result<T*> make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    void* place = allocate(sizeof(T), alignof(T));
    if (!place) return out_of_memory();
    return new (place) T{std::forward<Args>(args)...};
  }
  // Value-initialised.
  template <class T>
  Result<std::span<T>> make_array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count > kMost / sizeof(T)) return out_of_memory();
    T* items = static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
    if (!items) return out_of_memory();
    for (size_t i = 0; i < count; ++i) new (items + i) T();
    return std::span<T>(items, count);
  }
  template <class T>
  Result<std::span<T>> copy(std::span<const T> source) {
    static_assert(std::is_trivially_copyable_v<T>);
    MICA_TRY(const std::span<T> made, make_array<T>(source.size()));
    if (!source.empty()) memcpy(made.data(), source.data(), source.size_bytes());
    return made;
  }
  // The copy ends with a zero that the view does not count.
  Result<std::string_view> copy_text(std::string_view text) {
    char* chars = static_cast<char*>(allocate(text.size() + 1, 1));
    if (!chars) return out_of_memory();
    if (!text.empty()) memcpy(chars, text.data(), text.size());
    chars[text.size()] = 0;
    return std::string_view(chars, text.size());
  }

  // Ends all objects and keeps the memory for the next ones.
  void reset() {
    current_ = first_;
    if (first_) first_->used = 0;
  }
  // Gives the memory back.
  void release() {
    for (Block* block = std::exchange(first_, nullptr); block;) deallocate(std::exchange(block, block->next));
    current_ = nullptr;
    reserved_ = 0;
  }
  // What the arena holds of the system's memory.
  size_t reserved_bytes() const { return reserved_; }

 private:
  struct Block {
    Block* next;
    size_t size, used;  // of the bytes after this header
    char* data() { return reinterpret_cast<char*>(this + 1); }
  };
  static constexpr size_t kLeastBlock = 64, kLargestBlock = size_t{1} << 20, kMost = PTRDIFF_MAX / 4;

  static void* take(Block& block, size_t bytes, size_t align) {
    const uintptr_t base = reinterpret_cast<uintptr_t>(block.data());
    const size_t start = ((base + block.used + align - 1) & ~(uintptr_t{align} - 1)) - base;
    if (start > block.size || bytes > block.size - start) return nullptr;
    block.used = start + bytes;
    return block.data() + start;
  }
  static constexpr size_t larger(size_t a, size_t b) { return a > b ? a : b; }
  Block* add_block(size_t least) {
    const size_t size = larger(least, next_size_);
    Block* block = static_cast<Block*>(mica::allocate(sizeof(Block) + size));
    if (!block) return nullptr;
    *block = {nullptr, size, 0};
    (current_ ? current_->next : first_) = block;
    current_ = block;
    reserved_ += sizeof(Block) + size;
    if (next_size_ < kLargestBlock) next_size_ = next_size_ * 2 < kLargestBlock ? next_size_ * 2 : kLargestBlock;
    return block;
  }
  void swap(Arena& other) {
    std::swap(first_, other.first_);
    std::swap(current_, other.current_);
    std::swap(next_size_, other.next_size_);
    std::swap(reserved_, other.reserved_);
  }

  Block *first_ = nullptr, *current_ = nullptr;
  size_t next_size_, reserved_ = 0;
};

}  // namespace mica
