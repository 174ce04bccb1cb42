// A growable array whose growth can fail: the runtime's only dynamic array. Move-only; elements move when it grows.
#pragma once
#include <algorithm>
#include <functional>
#include <new>
#include <span>

#include "base/result.h"

namespace mica {

template <class T>
class Vector {
 public:
  Vector() = default;
  Vector(Vector&& other) noexcept { swap(other); }
  Vector& operator=(Vector&& other) noexcept {
    swap(other);
    return *this;
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  ~Vector() {
    clear();
    deallocate(data_);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  operator std::span<const T>() const { return {data_, size_}; }
  operator std::span<T>() { return {data_, size_}; }

  Status reserve(size_t n) {
    if (n <= capacity_) return {};
    if (n > static_cast<size_t>(PTRDIFF_MAX) / sizeof(T)) return out_of_memory();
    T* fresh = static_cast<T*>(allocate(n * sizeof(T), alignof(T)));
    if (!fresh) return out_of_memory();
    for (size_t i = 0; i < size_; ++i) {
      new (fresh + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    deallocate(data_);
    data_ = fresh;
    capacity_ = n;
    return {};
  }
  Status push_back(T value) {
    if (size_ == capacity_) MICA_TRY_STATUS(grow(std::max<size_t>(size_ + 1, 8)));
    new (data_ + size_++) T(std::move(value));
    return {};
  }
  // New elements are value-initialised.
  Status resize(size_t n) {
    MICA_TRY_STATUS(grow(n));
    while (size_ > n) data_[--size_].~T();
    while (size_ < n) new (data_ + size_++) T();
    return {};
  }
  // `items` may be a part of this vector.
  Status append(std::span<const T> items) {
    const bool own =
        std::less_equal<const T*>()(data_, items.data()) && std::less<const T*>()(items.data(), data_ + size_);
    const size_t offset = own ? static_cast<size_t>(items.data() - data_) : 0;
    MICA_TRY_STATUS(grow(size_ + items.size()));
    const T* source = own ? data_ + offset : items.data();
    for (size_t i = 0; i < items.size(); ++i) new (data_ + size_++) T(source[i]);
    return {};
  }
  // `items` are not a part of this vector.
  Status assign(std::span<const T> items) {
    clear();
    return append(items);
  }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    while (size_) data_[--size_].~T();
  }
  void swap(Vector& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  // At least doubles, so that appending stays linear; makes do with what is needed when memory for that is short.
  Status grow(size_t n) {
    if (n <= capacity_ || (n < capacity_ * 2 && reserve(capacity_ * 2).ok())) return {};
    return reserve(n);
  }
  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace mica
