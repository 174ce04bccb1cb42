// A growable array whose growth can fail: the runtime's only dynamic array. Move-only; elements move when it grows.
#pragma once
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace mica {

// What vectors of all types have in common. Those whose elements are bytes to be copied have no code of their own to
// grow: there are more than a hundred such types.
class VectorBytes {
 protected:
  struct Element {
    size_t size, align;
  };
  VectorBytes() = default;
  // Memory for `n` elements; null when there is none.
  static void* memory_for(size_t n, Element element);
  Status reserve_bytes(size_t n, Element element);
  Status grow_bytes(size_t n, Element element);
  Status append_bytes(const void* items, size_t count, Element element);
  // At least doubles, so that appending stays linear; makes do with what is needed when memory for that is short.
  template <class Reserve>
  Status grow_with(size_t n, Reserve reserve) {
    if (n <= capacity_ || (n < capacity_ * 2 && reserve(capacity_ * 2).ok())) return {};
    return reserve(n);
  }

  void* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

template <class T>
class Vector : private VectorBytes {
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
  T* data() { return static_cast<T*>(data_); }
  const T* data() const { return static_cast<const T*>(data_); }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  operator std::span<const T>() const { return {data(), size_}; }
  operator std::span<T>() { return {data(), size_}; }

  Status reserve(size_t n) {
    if constexpr (kBytes) {
      return reserve_bytes(n, kElement);
    } else {
      if (n <= capacity_) return {};
      T* fresh = static_cast<T*>(memory_for(n, kElement));
      if (!fresh) return out_of_memory();
      for (size_t i = 0; i < size_; ++i) {
        new (fresh + i) T(std::move(data()[i]));
        data()[i].~T();
      }
      deallocate(data_);
      data_ = fresh;
      capacity_ = n;
      return {};
    }
  }
  Status push_back(T value) {
    if (size_ == capacity_) MICA_TRY_STATUS(grow(size_ < 8 ? 8 : size_ + 1));
    new (data() + size_++) T(std::move(value));
    return {};
  }
  // New elements are value-initialised.
  Status resize(size_t n) {
    MICA_TRY_STATUS(grow(n));
    while (size_ > n) data()[--size_].~T();
    while (size_ < n) new (data() + size_++) T();
    return {};
  }
  // Of bytes to be copied; `items` may be a part of this vector.
  Status append(std::span<const T> items) {
    static_assert(kBytes);
    return append_bytes(items.data(), items.size(), kElement);
  }
  // `items` are not a part of this vector.
  Status assign(std::span<const T> items) {
    clear();
    return append(items);
  }
  void pop_back() { data()[--size_].~T(); }
  void clear() {
    while (size_) data()[--size_].~T();
  }
  void swap(Vector& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static constexpr bool kBytes = std::is_trivially_copyable_v<T>;
  static constexpr Element kElement{sizeof(T), alignof(T)};
  Status grow(size_t n) {
    if constexpr (kBytes)
      return grow_bytes(n, kElement);
    else
      return grow_with(n, [this](size_t count) { return reserve(count); });
  }
};

}  // namespace mica
