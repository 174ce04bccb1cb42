// Little-endian numbers, texts and lists as bytes: the parts that the small sections of a file are made of.
#pragma once
#include <concepts>

#include "base/file.h"

namespace mica {

// Takes parts from the front of bytes and believes nothing: past the end everything is 0 and empty, and `status` says
// so.
class ByteCursor {
 public:
  ByteCursor(Bytes bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  uint8_t u8() { return static_cast<uint8_t>(number(1)); }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }
  int64_t i64() { return static_cast<int64_t>(number(8)); }
  float f32() { return __builtin_bit_cast(float, u32()); }
  Bytes take(uint64_t size) {
    if (size > bytes_.size() - at_) {
      fail();
      return {};
    }
    at_ += static_cast<size_t>(size);
    return bytes_.subspan(at_ - static_cast<size_t>(size), static_cast<size_t>(size));
  }
  // A length (u32), then that many bytes.
  std::string_view text() {
    const Bytes part = take(u32());
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  // How many items follow (u32), each of at least `least` bytes: memory made for them stays in proportion to the file.
  uint32_t count(uint32_t most, size_t least) {
    const uint32_t n = u32();
    if (n <= most && n <= (bytes_.size() - at_) / least) return n;
    fail();
    return 0;
  }
  // A list of u32.
  Status list(uint32_t most, Vector<uint32_t>& out) {
    const uint32_t n = count(most, 4);
    MICA_TRY_STATUS(out.reserve(n));
    for (uint32_t i = 0; i < n; ++i) MICA_TRY_STATUS(out.push_back(u32()));
    return status();
  }

  bool ok() const { return !failed_; }
  size_t at() const { return at_; }
  Status status() const {
    MICA_CHECK(!failed_, kBadFile, "the section `{}` ends too early, or a count in it is too large (at byte {} of {})",
               what_, failed_at_, bytes_.size());
    return {};
  }
  // Nothing is left over.
  Status finish() const {
    MICA_TRY_STATUS(status());
    MICA_CHECK(at_ == bytes_.size(), kBadFile, "the section `{}` has {} bytes too many", what_, bytes_.size() - at_);
    return {};
  }

 private:
  void fail() {
    if (!failed_) failed_at_ = at_;
    failed_ = true;
    at_ = bytes_.size();
  }
  uint64_t number(size_t size) {
    const Bytes part = take(size);
    uint64_t value = 0;
    for (size_t i = 0; i < part.size(); ++i) value |= uint64_t{static_cast<uint8_t>(part[i])} << (8 * i);
    return value;
  }
  Bytes bytes_;
  std::string_view what_;
  size_t at_ = 0, failed_at_ = 0;
  bool failed_ = false;
};

// The inverse. The first failure (memory) is kept.
class ByteList {
 public:
  void u8(uint8_t v) { number(v, 1); }
  void u16(uint16_t v) { number(v, 2); }
  void u32(uint32_t v) { number(v, 4); }
  void u64(uint64_t v) { number(v, 8); }
  void i64(int64_t v) { number(static_cast<uint64_t>(v), 8); }
  void f32(float v) { u32(__builtin_bit_cast(uint32_t, v)); }
  void count(size_t n) { u32(static_cast<uint32_t>(n)); }
  void raw(Bytes part) {
    if (status_.ok()) status_ = bytes_.append(part);
  }
  void text(std::string_view text) {
    count(text.size());
    raw(std::as_bytes(std::span(text.data(), text.size())));
  }
  void list(std::span<const uint32_t> items) {
    count(items.size());
    for (uint32_t v : items) u32(v);
  }
  Bytes bytes() const { return bytes_; }
  Status status() const { return status_.copy(); }

 private:
  void number(uint64_t v, int size) {
    std::byte part[8];
    for (int i = 0; i < size; ++i) part[i] = static_cast<std::byte>(v >> (8 * i));
    raw({part, static_cast<size_t>(size)});
  }
  Vector<std::byte> bytes_;
  Status status_;
};

}  // namespace mica
