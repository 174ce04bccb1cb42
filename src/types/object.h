// Values that own memory: tensors made while a model runs, and the sequences, optionals and maps that hold them.
#pragma once
#include "base/vector.h"
#include "types/tensor.h"

namespace mica {

// A dense tensor with its own memory (64-byte aligned). A string tensor's buffer holds the StringRefs and then their
// bytes.
class OwnedTensor {
 public:
  OwnedTensor() = default;
  OwnedTensor(OwnedTensor&& other) noexcept
      : view_(std::exchange(other.view_, {})),
        buffer_(std::exchange(other.buffer_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  OwnedTensor& operator=(OwnedTensor&& other) noexcept {
    std::swap(view_, other.view_);
    std::swap(buffer_, other.buffer_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~OwnedTensor() { deallocate(buffer_); }

  // Memory for `dims` elements, not initialised (strings: empty). Errors: kOutOfMemory, kBadShape on overflow.
  static Result<OwnedTensor> make(DType dtype, std::span<const int64_t> dims);
  static Result<OwnedTensor> copy_of(const TensorView& view);  // deep, dense
  // The same in the memory that it has, where that is enough; else with room for half as much again when it held
  // something: a loop's state may grow turn by turn.
  Status assign(const TensorView& view);
  const TensorView& view() const { return view_; }
  bool empty() const { return buffer_ == nullptr; }

 private:
  TensorView view_;
  void* buffer_ = nullptr;
  size_t capacity_ = 0;  // bytes of the buffer
};

// A sequence holds `tensors` (or `objects`, when its elements are maps); an optional holds none or one item; a map
// holds its keys and its values as two tensors of rank 1.
struct Object {
  Kind kind = Kind::kSequence;
  DType dtype = DType::kNone;
  Vector<OwnedTensor> tensors;
  Vector<Object> objects;

  Result<Object> copy() const;
  bool has_value() const { return !tensors.empty() || !objects.empty(); }  // of an optional
};

}  // namespace mica
