// Attributes as bytes: each field its kind (one byte) and its value, little-endian. Lists begin with their length (one
// byte), choices have two bytes.
#pragma once
#include "types/attr.h"

namespace mica {

enum class AttrKind : uint8_t { kBool = 1, kInt, kFloat, kDType, kInts, kFloats, kDims, kName, kChoice };

struct AttrBytes {
  static constexpr uint32_t kMaxFields = 64;
  uint32_t fields = 0;
  size_t size = 0;
  uint32_t starts[kMaxFields];  // where each field begins
  // Kinds and lengths add at most three bytes to a field, and no field's value takes more bytes than it does in the
  // struct.
  char data[kMaxAttrBytes + 3 * kMaxFields];
  std::span<const char> view() const { return {data, size}; }
  std::span<const char> field(uint32_t i) const {
    return {data + starts[i], (i + 1 < fields ? starts[i + 1] : size) - starts[i]};
  }
};

AttrBytes bytes_of_attributes(const AttrClass& cls, const void* attributes);

}  // namespace mica
