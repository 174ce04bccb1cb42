#include "types/dtype.h"

namespace mica {
namespace {

using enum NumberKind;
constexpr DTypeInfo kInfo[kDTypeCount] = {
    {"none", 0, kNone},       {"f32", 32, kFloat},       {"f64", 64, kFloat},     {"f16", 16, kFloat},
    {"bf16", 16, kFloat},     {"i8", 8, kSigned},        {"i16", 16, kSigned},    {"i32", 32, kSigned},
    {"i64", 64, kSigned},     {"u8", 8, kUnsigned},      {"u16", 16, kUnsigned},  {"u32", 32, kUnsigned},
    {"u64", 64, kUnsigned},   {"bool", 8, kBool},        {"i4", 4, kSigned},      {"u4", 4, kUnsigned},
    {"i2", 2, kSigned},       {"u2", 2, kUnsigned},      {"f8e4m3fn", 8, kFloat}, {"f8e4m3fnuz", 8, kFloat},
    {"f8e5m2", 8, kFloat},    {"f8e5m2fnuz", 8, kFloat}, {"f8e8m0", 8, kFloat},   {"f4e2m1", 4, kFloat},
    {"string", 128, kString}, {"c64", 64, kComplex},     {"c128", 128, kComplex},
};

}  // namespace

const DTypeInfo& info_of(DType dtype) {
  const auto index = static_cast<int>(dtype);
  return kInfo[index < kDTypeCount ? index : 0];
}

DType dtype_of(std::string_view name) {
  for (int i = 1; i < kDTypeCount; ++i)
    if (kInfo[i].name == name) return static_cast<DType>(i);
  return DType::kNone;
}

}  // namespace mica
