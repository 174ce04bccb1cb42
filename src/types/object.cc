#include "types/object.h"

#include <algorithm>
#include <cstring>

namespace mica {
namespace {

// Bytes of a dense tensor plus `extra`; the product is checked.
Result<size_t> checked_bytes(DType dtype, std::span<const int64_t> dims, size_t extra) {
  MICA_CHECK(dims.size() <= kMaxRank, kLimit, "a tensor has {} dimensions, more than {}", dims.size(), kMaxRank);
  int64_t count = 1;
  bool none = false, fits = true;
  for (int64_t d : dims) {
    MICA_CHECK(d >= 0, kBadShape, "a dimension is negative: {}", d);
    none = none || d == 0;
    fits = fits && (d == 0 || !__builtin_mul_overflow(count, d, &count));
  }
  // 16 bytes is the largest element, and padding of rows stays below one byte per element.
  int64_t bytes = 0;
  fits = fits && !__builtin_mul_overflow(count, int64_t{16}, &bytes) && !__builtin_add_overflow(bytes, extra, &bytes);
  MICA_CHECK(fits, kBadShape, "a tensor's size overflows 64 bits");
  return none ? extra : static_cast<size_t>(dense_bytes(dtype, dims)) + extra;
}

}  // namespace

Result<OwnedTensor> OwnedTensor::make(DType dtype, std::span<const int64_t> dims) {
  MICA_TRY(const size_t bytes, checked_bytes(dtype, dims, 0));
  OwnedTensor made;
  made.buffer_ = allocate(bytes, kCacheLine);
  if (!made.buffer_) return out_of_memory();
  made.capacity_ = bytes;
  if (dtype == DType::kString) std::memset(made.buffer_, 0, bytes);
  made.view_ = dense_view(made.buffer_, dtype, dims);
  return made;
}

Result<OwnedTensor> OwnedTensor::copy_of(const TensorView& view) {
  const bool text = view.dtype == DType::kString;
  const Elements from(view);
  size_t chars = 0;
  for (int64_t i = 0, n = text ? view.count() : 0; i < n; ++i) chars += static_cast<size_t>(from.text(i).size);
  MICA_TRY(const size_t bytes, checked_bytes(view.dtype, view.shape(), chars));
  OwnedTensor made;
  made.buffer_ = allocate(bytes, kCacheLine);
  if (!made.buffer_) return out_of_memory();
  made.capacity_ = bytes;
  made.view_ = dense_view(made.buffer_, view.dtype, view.shape());
  copy_elements(view, made.view_);
  char* place = static_cast<char*>(made.buffer_) + (bytes - chars);
  for (int64_t i = 0, n = text ? view.count() : 0; i < n; ++i) {
    StringRef& item = made.view_.as<StringRef>()[i];
    if (item.size) std::memcpy(place, item.data, static_cast<size_t>(item.size));
    item.data = place;
    place += item.size;
  }
  return made;
}

Status OwnedTensor::assign(const TensorView& view) {
  if (view.dtype == DType::kString || view_.dtype == DType::kString) {
    MICA_TRY(*this, copy_of(view));
    return {};
  }
  MICA_TRY(const size_t bytes, checked_bytes(view.dtype, view.shape(), 0));
  const bool fits = buffer_ && bytes <= capacity_;
  OwnedTensor larger;
  OwnedTensor& to = fits ? *this : larger;
  if (!fits) {
    larger.capacity_ = buffer_ ? bytes + bytes / 2 : bytes;
    larger.buffer_ = allocate(larger.capacity_, kCacheLine);
    if (!larger.buffer_) return out_of_memory();
  }
  to.view_ = dense_view(to.buffer_, view.dtype, view.shape());
  if (!view.empty()) copy_elements(view, to.view_);
  if (!fits) *this = std::move(larger);
  return {};
}

Result<Object> Object::copy() const {
  Object made;
  made.kind = kind;
  made.dtype = dtype;
  MICA_TRY_STATUS(made.tensors.reserve(tensors.size()));
  MICA_TRY_STATUS(made.objects.reserve(objects.size()));
  for (const OwnedTensor& tensor : tensors) {
    MICA_TRY(OwnedTensor twin, OwnedTensor::copy_of(tensor.view()));
    MICA_TRY_STATUS(made.tensors.push_back(std::move(twin)));
  }
  for (const Object& object : objects) {
    MICA_TRY(Object twin, object.copy());
    MICA_TRY_STATUS(made.objects.push_back(std::move(twin)));
  }
  return made;
}

}  // namespace mica
