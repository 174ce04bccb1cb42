// Arithmetic on sizes that come from files and models, where an overflow is the input's fault and must be noticed.
#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <limits>

#include "base/result.h"

namespace mica {

// Each returns false, and leaves `out` unspecified, when the exact result does not fit its type.
template <std::integral T>
[[nodiscard]] constexpr bool checked_add(T a, T b, T& out) {
  return !__builtin_add_overflow(a, b, &out);
}
template <std::integral T>
[[nodiscard]] constexpr bool checked_sub(T a, T b, T& out) {
  return !__builtin_sub_overflow(a, b, &out);
}
template <std::integral T>
[[nodiscard]] constexpr bool checked_mul(T a, T b, T& out) {
  return !__builtin_mul_overflow(a, b, &out);
}
template <std::integral To, std::integral From>
[[nodiscard]] constexpr bool checked_cast(From value, To& out) {
  return !__builtin_add_overflow(value, From{0}, &out);
}

// `multiple` > 0; for negative values toward plus infinity, as for positive ones.
template <std::integral T>
[[nodiscard]] constexpr bool checked_round_up(T value, T multiple, T& out) {
  const T over = value % multiple;
  if (over == 0) return out = value, true;
  return checked_add(value, static_cast<T>(over > 0 ? multiple - over : -over), out);
}

// Whether the bytes [offset, offset + size) lie within `total` of them; for sizes and offsets read from a file.
[[nodiscard]] constexpr bool within(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

// The product of factors >= 0; a zero makes it zero whatever the others are. kLimit when one is negative or the product
// does not fit, naming `what`.
inline Result<int64_t> product(std::initializer_list<int64_t> factors, std::string_view what) {
  int64_t value = 1;
  bool fits = true, zero = false;
  for (int64_t factor : factors) {
    MICA_CHECK(factor >= 0, kLimit, "{}: a factor is negative ({})", what, factor);
    zero = zero || factor == 0;
    fits = fits && checked_mul(value, factor, value);
  }
  if (zero) return int64_t{0};
  MICA_CHECK(fits, kLimit, "{} is larger than {}", what, std::numeric_limits<int64_t>::max());
  return value;
}

}  // namespace mica
