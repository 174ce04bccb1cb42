// Single elements of every type as numbers.
#include <cmath>
#include <cstring>

#include "base/half.h"
#include "types/tensor.h"

namespace mica {
namespace {

template <class T>
T read(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void write(void* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

unsigned low_bits(const void* p, int bits) { return read<uint8_t>(p) & ((1u << bits) - 1u); }
int64_t signed_bits(const void* p, int bits) {
  const int64_t v = low_bits(p, bits);
  return v >> (bits - 1) ? v - (int64_t{1} << bits) : v;
}
void write_bits(void* p, int bits, unsigned value) {
  const unsigned mask = (1u << bits) - 1u;
  write(p, static_cast<uint8_t>((read<uint8_t>(p) & ~mask) | (value & mask)));
}

bool small_kind(DType dtype, SmallFloat& kind) {
  switch (dtype) {
    case DType::kF8E4m3fn: kind = SmallFloat::kE4m3Fn; return true;
    case DType::kF8E4m3fnuz: kind = SmallFloat::kE4m3FnUz; return true;
    case DType::kF8E5m2: kind = SmallFloat::kE5m2; return true;
    case DType::kF8E5m2fnuz: kind = SmallFloat::kE5m2FnUz; return true;
    case DType::kF8E8m0: kind = SmallFloat::kE8m0; return true;
    case DType::kF4E2m1: kind = SmallFloat::kE2m1; return true;
    default: return false;
  }
}

// Truncated into [low, high], which are integers; `high` may be one rounding above the largest value of the type.
int64_t truncate(double value, int bits) {
  if (std::isnan(value)) return 0;
  const double edge = std::ldexp(1.0, bits - 1);
  const int64_t high = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  if (value >= edge) return high;
  return value <= -edge ? -high - 1 : static_cast<int64_t>(value);
}
uint64_t truncate_unsigned(double value, int bits) {
  if (!(value > 0)) return 0;
  if (value >= std::ldexp(1.0, bits)) return ~uint64_t{0} >> (64 - bits);
  return static_cast<uint64_t>(value);
}

// To double with rounding to odd: 53 bits that round on to fewer as the exact value would.
double to_odd(int64_t value) {
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (magnitude >> 53) magnitude = (magnitude >> 11 | ((magnitude & 0x7ff) ? 1u : 0u)) << 11;
  const double d = static_cast<double>(magnitude);
  return value < 0 ? -d : d;
}

}  // namespace

double load_number(DType dtype, const void* p) {
  switch (dtype) {
    case DType::kF32:
    case DType::kC64: return static_cast<double>(read<float>(p));
    case DType::kF64:
    case DType::kC128: return read<double>(p);
    case DType::kF16: return static_cast<double>(f16_to_float(read<uint16_t>(p)));
    case DType::kBf16: return static_cast<double>(bf16_to_float(read<uint16_t>(p)));
    case DType::kU64: return static_cast<double>(read<uint64_t>(p));
    default: break;
  }
  SmallFloat kind;
  if (small_kind(dtype, kind)) return static_cast<double>(small_float_to_float(kind, read<uint8_t>(p)));
  return static_cast<double>(load_int(dtype, p));
}

int64_t load_int(DType dtype, const void* p) {
  switch (dtype) {
    case DType::kI8: return read<int8_t>(p);
    case DType::kI16: return read<int16_t>(p);
    case DType::kI32: return read<int32_t>(p);
    case DType::kI64:
    case DType::kU64: return read<int64_t>(p);
    case DType::kU8: return read<uint8_t>(p);
    case DType::kU16: return read<uint16_t>(p);
    case DType::kU32: return read<uint32_t>(p);
    case DType::kBool: return read<uint8_t>(p) != 0;
    case DType::kI4: return signed_bits(p, 4);
    case DType::kI2: return signed_bits(p, 2);
    case DType::kU4: return low_bits(p, 4);
    case DType::kU2: return low_bits(p, 2);
    case DType::kNone:
    case DType::kString: return 0;
    default: return truncate(load_number(dtype, p), 64);
  }
}

void store_number(DType dtype, void* p, double value) {
  switch (dtype) {
    case DType::kF32: return write(p, static_cast<float>(value));
    case DType::kF64: return write(p, value);
    case DType::kF16: return write(p, double_to_f16(value));
    case DType::kBf16: return write(p, double_to_bf16(value));
    case DType::kC64: write(p, static_cast<float>(value)); return write(static_cast<char*>(p) + sizeof(float), 0.0f);
    case DType::kC128: write(p, value); return write(static_cast<char*>(p) + sizeof(double), 0.0);
    case DType::kBool: return write(p, static_cast<uint8_t>(value != 0));
    default: break;
  }
  SmallFloat kind;
  if (small_kind(dtype, kind)) {
    const uint8_t code = to_small_float(kind, value);
    return is_sub_byte(dtype) ? write_bits(p, bits_of(dtype), code) : write(p, code);
  }
  if (kind_of(dtype) == NumberKind::kSigned) return store_int(dtype, p, truncate(value, bits_of(dtype)));
  if (kind_of(dtype) == NumberKind::kUnsigned)
    store_int(dtype, p, static_cast<int64_t>(truncate_unsigned(value, bits_of(dtype))));
}

void store_int(DType dtype, void* p, int64_t value) {
  switch (dtype) {
    case DType::kI8:
    case DType::kU8: return write(p, static_cast<uint8_t>(value));
    case DType::kI16:
    case DType::kU16: return write(p, static_cast<uint16_t>(value));
    case DType::kI32:
    case DType::kU32: return write(p, static_cast<uint32_t>(value));
    case DType::kI64:
    case DType::kU64: return write(p, value);
    case DType::kBool: return write(p, static_cast<uint8_t>(value != 0));
    case DType::kI4:
    case DType::kU4: return write_bits(p, 4, static_cast<unsigned>(value & 15));
    case DType::kI2:
    case DType::kU2: return write_bits(p, 2, static_cast<unsigned>(value & 3));
    case DType::kF64: return write(p, static_cast<double>(value));
    case DType::kNone:
    case DType::kString: return;
    default: return store_number(dtype, p, to_odd(value));
  }
}

}  // namespace mica
