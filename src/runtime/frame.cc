#include "runtime/frame.h"

#include <algorithm>
#include <new>

namespace mica {

Status Buffer::ensure(size_t bytes) {
  if (bytes <= size_) return {};
  void* fresh = take_memory(bytes);
  if (!fresh) return out_of_memory();
  release_memory(data_, size_);
  data_ = fresh;
  size_ = bytes;
  return {};
}

void* ReusablePool::take(size_t bytes) {
  bytes = rounded(bytes);
  for (; block_ < blocks_.size(); ++block_, used_ = 0)
    if (used_ + bytes <= blocks_[block_].size()) {
      used_ += bytes;
      return static_cast<char*>(blocks_[block_].data()) + used_ - bytes;
    }
  Buffer block;
  if (!block.ensure(std::max(bytes, kBlock)).ok()) return nullptr;
  void* data = block.data();
  if (!blocks_.push_back(std::move(block)).ok()) return nullptr;
  block_ = blocks_.size() - 1;
  used_ = bytes;
  return data;
}

size_t ReusablePool::growth(size_t bytes) const {
  bytes = rounded(bytes);
  for (size_t i = block_, used = used_; i < blocks_.size(); ++i, used = 0)
    if (used + bytes <= blocks_[i].size()) return 0;
  return std::max(bytes, kBlock);
}

size_t ReusablePool::bytes() const {
  size_t sum = 0;
  for (const Buffer& block : blocks_) sum += block.size();
  return sum;
}

Result<Frame*> Frame::create(const PlanFunction& function, uint32_t index) {
  void* place = allocate(sizeof(Frame));
  if (!place) return out_of_memory();
  auto* frame = new (place) Frame();
  frame->function = index;
  const size_t n = function.values.size();
  Status status = frame->bases.resize(kBaseFirstSlot + n);
  if (status.ok()) status = frame->slots.resize(n);
  if (status.ok()) status = frame->given.resize(n);
  if (status.ok()) status = frame->views.resize(n);
  if (status.ok()) status = frame->objects.resize(n);
  if (status.ok()) status = frame->object_at.resize(n);
  if (!status.ok()) {
    destroy(frame);
    return status.take_error();
  }
  return frame;
}

void Frame::destroy(Frame* frame) {
  if (!frame) return;
  frame->~Frame();
  deallocate(frame);
}

}  // namespace mica
