// Element types. Widths are in bits: sub-byte types pack along the innermost axis, low bits first, each row padded to a
// byte.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mica {

enum class DType : uint8_t {
  kNone,
  kF32,
  kF64,
  kF16,
  kBf16,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool,
  kI4,
  kU4,
  kI2,
  kU2,
  kF8E4m3fn,
  kF8E4m3fnuz,
  kF8E5m2,
  kF8E5m2fnuz,
  kF8E8m0,
  kF4E2m1,
  kString,
  kC64,
  kC128,
};
inline constexpr int kDTypeCount = static_cast<int>(DType::kC128) + 1;

enum class NumberKind : uint8_t { kNone, kFloat, kSigned, kUnsigned, kBool, kString, kComplex };

struct DTypeInfo {
  std::string_view name;
  uint8_t bits;
  NumberKind kind;
};

// One string element of a tensor: bytes owned by the model's constants or by the run's pool.
struct StringRef {
  const char* data;
  int64_t size;
  std::string_view view() const { return {data, static_cast<size_t>(size)}; }
};

const DTypeInfo& info_of(DType dtype);
inline std::string_view name_of(DType dtype) { return info_of(dtype).name; }
inline int bits_of(DType dtype) { return info_of(dtype).bits; }
inline NumberKind kind_of(DType dtype) { return info_of(dtype).kind; }
inline bool is_float(DType dtype) { return kind_of(dtype) == NumberKind::kFloat; }
inline bool is_integer(DType d) { return kind_of(d) == NumberKind::kSigned || kind_of(d) == NumberKind::kUnsigned; }
inline bool is_byte(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8; }
inline bool is_sub_byte(DType dtype) { return dtype != DType::kNone && bits_of(dtype) < 8; }
// kNone when the name is unknown.
DType dtype_of(std::string_view name);

// Bytes of `count` elements of one dense row.
inline int64_t row_bytes(DType dtype, int64_t count) { return (count * bits_of(dtype) + 7) / 8; }
// Bytes of one element; 1 for sub-byte types (use row_bytes for those).
inline int64_t element_bytes(DType dtype) { return (bits_of(dtype) + 7) / 8; }

}  // namespace mica
