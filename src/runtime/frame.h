// The memory of one running function: arena, slots for values that outlive a segment, object slots.
#pragma once
#include <algorithm>

#include "base/os.h"
#include "runtime/bound.h"

namespace mica {

// Memory that grows and is then kept, so that runs of the same shapes allocate nothing.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { release_memory(data_, size_); }
  Status ensure(size_t bytes);  // contents are lost when it grows
  void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void swap(Buffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  void* data_ = nullptr;
  size_t size_ = 0;
};

// Blocks that are used again after `reset`.
class ReusablePool {
 public:
  void* take(size_t bytes);           // 64-byte aligned, not initialised; null when memory is short
  size_t growth(size_t bytes) const;  // what `take` would ask the system for
  struct Mark {
    size_t block, used;
  };
  Mark mark() const { return {block_, used_}; }
  void rewind(Mark mark) {
    block_ = mark.block;
    used_ = mark.used;
  }
  void reset() { rewind({0, 0}); }
  size_t bytes() const;

 private:
  static constexpr size_t kBlock = 64 << 10;
  // What is beyond any memory stays beyond it.
  static size_t rounded(size_t bytes) { return round_up(std::clamp<size_t>(bytes, 1, PTRDIFF_MAX), kCacheLine); }
  Vector<Buffer> blocks_;
  size_t block_ = 0, used_ = 0;
};

struct Frame {
  uint32_t function = 0;
  Buffer arena;
  Vector<void*> bases;        // kBaseFirstSlot + value: where that value's slot is
  Vector<Buffer> slots;       // by value, for those the caller gave no memory for
  Vector<TensorView> given;   // by value: the caller's memory for an output; no data where the frame's slot serves
  Vector<TensorView> views;   // by value: dims of what stands in a slot now (data: its address)
  Vector<Object> objects;     // by value
  Vector<Object*> object_at;  // by value: its object, here or the caller's
  // Null for a part of a tensor without elements, whose memory may be none.
  void* address(const Place& place) const {
    if (place.base == kBaseAbsolute) return reinterpret_cast<void*>(place.offset);
    auto* base = static_cast<char*>(bases[place.base]);
    return base ? base + place.offset : nullptr;
  }
  static Result<Frame*> create(const PlanFunction& function, uint32_t index);
  static void destroy(Frame* frame);
};

}  // namespace mica
