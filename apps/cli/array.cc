#include "array.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace mica::cli {
namespace {

double from_bits(uint32_t bits, int exponent_bits, int mantissa_bits, int bias) {
  const uint32_t sign = bits >> (exponent_bits + mantissa_bits) & 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const double part = std::ldexp(static_cast<double>(mantissa), -mantissa_bits);
  const double magnitude = exponent == 0 ? std::ldexp(part, 1 - bias) : std::ldexp(1 + part, exponent - bias);
  return sign ? -magnitude : magnitude;
}

double half_number(uint16_t bits) {
  if ((bits & 0x7c00) == 0x7c00) {
    if (bits & 0x3ff) return std::numeric_limits<double>::quiet_NaN();
    return bits & 0x8000 ? -INFINITY : INFINITY;
  }
  return from_bits(bits, 5, 10, 15);
}

// Rounds to nearest even; overflow gives infinity.
uint16_t half_bits(double value) {
  const auto single = static_cast<float>(value);
  const uint16_t sign = std::signbit(single) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  if (magnitude < std::ldexp(1.0, -14))
    return static_cast<uint16_t>(sign | static_cast<int>(std::nearbyint(std::ldexp(magnitude, 24))));
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const auto scaled = static_cast<int64_t>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));  // 1024 … 2048
  return static_cast<uint16_t>(sign | ((static_cast<int64_t>(exponent + 13) << 10) + scaled));
}

template <class T>
T load(const void* data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

double bf16_number(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  return static_cast<double>(load<float>(&wide, 0));
}

uint16_t bf16_bits(double value) {
  const auto single = static_cast<float>(value);
  const auto bits = load<uint32_t>(&single, 0);
  if (std::isnan(single)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double float8_number(mica_dtype dtype, uint8_t bits) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  switch (dtype) {
    case MICA_F8E4M3FN: return (bits & 0x7f) == 0x7f ? kNan : from_bits(bits, 4, 3, 7);
    case MICA_F8E4M3FNUZ: return bits == 0x80 ? kNan : from_bits(bits, 4, 3, 8);
    case MICA_F8E5M2:
      if ((bits & 0x7c) == 0x7c) return bits & 3 ? kNan : bits & 0x80 ? -INFINITY : INFINITY;
      return from_bits(bits, 5, 2, 15);
    case MICA_F8E5M2FNUZ: return bits == 0x80 ? kNan : from_bits(bits, 5, 2, 16);
    case MICA_F8E8M0: return bits == 0xff ? kNan : std::ldexp(1.0, bits - 127);
    default: return from_bits(bits, 2, 1, 1);
  }
}

// An element of 2 or 4 bits: rows of the last axis are padded to bytes.
uint8_t small_code(const Tensor& tensor, int64_t index, int bits) {
  const int64_t width = tensor.rank() ? tensor.dim(tensor.rank() - 1) : 1;
  const int64_t row_bytes = (width * bits + 7) / 8, at = index % width * bits;
  const auto byte = load<uint8_t>(tensor.data(), index / width * row_bytes + at / 8);
  return static_cast<uint8_t>(byte >> (at % 8) & ((1 << bits) - 1));
}

template <class T>
void store(Array& array, int64_t index, double value) {
  T result;
  if constexpr (std::is_floating_point_v<T>) {
    result = static_cast<T>(value);
  } else {
    const double rounded = std::nearbyint(value), low = static_cast<double>(std::numeric_limits<T>::min()),
                 high = static_cast<double>(std::numeric_limits<T>::max());
    result = std::isnan(rounded) ? T{0}
             : rounded <= low    ? std::numeric_limits<T>::min()
             : rounded >= high   ? std::numeric_limits<T>::max()
                                 : static_cast<T>(rounded);
  }
  std::memcpy(array.bytes.data() + static_cast<size_t>(index) * sizeof(T), &result, sizeof(T));
}

}  // namespace

Array Array::make(mica_dtype dtype, std::vector<int64_t> dims) {
  Array made;
  made.dtype = dtype;
  made.dims = std::move(dims);
  const Tensor shape(dtype, nullptr, made.dims);
  const int64_t bytes = made.dims.size() > MICA_MAX_RANK ? -1 : shape.bytes();
  if (bytes < 0 || bytes > (int64_t{1} << 40))
    fail_usage("an array of shape " + dims_text(made.dims) + " is too large");
  made.bytes.resize(static_cast<size_t>(bytes));
  return made;
}

Array Array::of(const std::vector<std::string>& texts, std::vector<int64_t> dims) {
  Array made = make(MICA_STRING, std::move(dims));
  made.strings = std::make_shared<std::vector<std::string>>(texts);
  for (size_t i = 0; i < made.strings->size() && (i + 1) * sizeof(mica_string) <= made.bytes.size(); ++i) {
    const std::string& text = (*made.strings)[i];
    const mica_string item{text.data(), static_cast<int64_t>(text.size())};
    std::memcpy(made.bytes.data() + i * sizeof item, &item, sizeof item);
  }
  return made;
}

Array Array::copy_of(const Tensor& tensor) {
  if (tensor.dtype() == MICA_STRING) {
    std::vector<std::string> texts;
    for (const mica_string& s : tensor.span<mica_string>()) texts.emplace_back(s.data, static_cast<size_t>(s.size));
    return of(texts, tensor.dims());
  }
  Array made = make(tensor.dtype(), tensor.dims());
  if (!made.bytes.empty()) std::memcpy(made.bytes.data(), tensor.data(), made.bytes.size());
  return made;
}

double number_at(const Tensor& tensor, int64_t index) {
  const void* data = tensor.data();
  switch (tensor.dtype()) {
    case MICA_F32: return static_cast<double>(load<float>(data, index));
    case MICA_F64: return load<double>(data, index);
    case MICA_F16: return half_number(load<uint16_t>(data, index));
    case MICA_BF16: return bf16_number(load<uint16_t>(data, index));
    case MICA_I8: return load<int8_t>(data, index);
    case MICA_I16: return load<int16_t>(data, index);
    case MICA_I32: return load<int32_t>(data, index);
    case MICA_I64: return static_cast<double>(load<int64_t>(data, index));
    case MICA_U8: return load<uint8_t>(data, index);
    case MICA_U16: return load<uint16_t>(data, index);
    case MICA_U32: return load<uint32_t>(data, index);
    case MICA_U64: return static_cast<double>(load<uint64_t>(data, index));
    case MICA_BOOL: return load<uint8_t>(data, index) != 0;
    case MICA_U4: return small_code(tensor, index, 4);
    case MICA_U2: return small_code(tensor, index, 2);
    case MICA_I4: return static_cast<int8_t>(small_code(tensor, index, 4) << 4) >> 4;
    case MICA_I2: return static_cast<int8_t>(small_code(tensor, index, 2) << 6) >> 6;
    case MICA_F4E2M1: return float8_number(MICA_F4E2M1, small_code(tensor, index, 4));
    case MICA_C64: return static_cast<double>(load<float>(data, 2 * index));
    case MICA_C128: return load<double>(data, 2 * index);
    case MICA_STRING:
    case MICA_NONE: return 0;
    default: return float8_number(tensor.dtype(), load<uint8_t>(data, index));
  }
}

double imaginary_at(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == MICA_C64) return static_cast<double>(load<float>(tensor.data(), 2 * index + 1));
  return tensor.dtype() == MICA_C128 ? load<double>(tensor.data(), 2 * index + 1) : 0;
}

bool is_complex(mica_dtype dtype) { return dtype == MICA_C64 || dtype == MICA_C128; }

bool is_whole(mica_dtype dtype) {
  switch (dtype) {
    case MICA_I8:
    case MICA_I16:
    case MICA_I32:
    case MICA_I64:
    case MICA_U8:
    case MICA_U16:
    case MICA_U32:
    case MICA_U64:
    case MICA_BOOL:
    case MICA_I4:
    case MICA_U4:
    case MICA_I2:
    case MICA_U2: return true;
    default: return false;
  }
}

int64_t whole_at(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == MICA_I64 || tensor.dtype() == MICA_U64) return load<int64_t>(tensor.data(), index);
  return static_cast<int64_t>(number_at(tensor, index));
}

bool is_less(const Tensor& tensor, int64_t a, int64_t b) {
  if (tensor.dtype() == MICA_U64)
    return static_cast<uint64_t>(whole_at(tensor, a)) < static_cast<uint64_t>(whole_at(tensor, b));
  return is_whole(tensor.dtype()) ? whole_at(tensor, a) < whole_at(tensor, b)
                                  : number_at(tensor, a) < number_at(tensor, b);
}

std::string element_text(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == MICA_U64) return std::to_string(static_cast<uint64_t>(whole_at(tensor, index)));
  if (is_whole(tensor.dtype())) return std::to_string(whole_at(tensor, index));
  if (is_complex(tensor.dtype()))
    return fmt::format("{:.6g}{:+.6g}j", number_at(tensor, index), imaginary_at(tensor, index));
  return fmt::format("{:.6g}", number_at(tensor, index));
}

void set_number(Array& array, int64_t index, double value) {
  switch (array.dtype) {
    case MICA_F32: return store<float>(array, index, value);
    case MICA_F64: return store<double>(array, index, value);
    case MICA_F16: return store<uint16_t>(array, index, half_bits(value));
    case MICA_BF16: return store<uint16_t>(array, index, bf16_bits(value));
    case MICA_I8: return store<int8_t>(array, index, value);
    case MICA_I16: return store<int16_t>(array, index, value);
    case MICA_I32: return store<int32_t>(array, index, value);
    case MICA_I64: return store<int64_t>(array, index, value);
    case MICA_U8: return store<uint8_t>(array, index, value);
    case MICA_U16: return store<uint16_t>(array, index, value);
    case MICA_U32: return store<uint32_t>(array, index, value);
    case MICA_U64: return store<uint64_t>(array, index, value);
    case MICA_BOOL: return store<uint8_t>(array, index, value != 0 ? 1 : 0);
    default: fail_usage(fmt::format("elements of type {} cannot be made here", mica_dtype_name(array.dtype)));
  }
}

Array convert_to(const Array& array, mica_dtype dtype) {
  if (array.dtype == dtype) return array;
  if (array.dtype == MICA_STRING || is_complex(array.dtype))
    fail_usage(fmt::format("{} cannot be converted to {}", mica_dtype_name(array.dtype), mica_dtype_name(dtype)));
  Array made = Array::make(dtype, array.dims);
  const Tensor from = array.tensor();
  for (int64_t i = 0, n = array.count(); i < n; ++i) set_number(made, i, number_at(from, i));
  return made;
}

}  // namespace mica::cli
