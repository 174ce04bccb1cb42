// Text for messages without iostream, locale or allocation: each `{}` takes the next argument.
// Not a general formatter: no width or precision. Numbers print so that they read back to the same value.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace mica {

class FormatArg {
 public:
  enum class Kind : uint8_t { kSigned, kUnsigned, kDouble, kFloat, kText, kChar, kBool };
  template <std::signed_integral T>
  FormatArg(T v) : kind(Kind::kSigned), i(v) {}
  template <std::unsigned_integral T>
  FormatArg(T v) : kind(Kind::kUnsigned), u(v) {}
  template <class T>
  requires std::is_enum_v<T> FormatArg(T v) : kind(Kind::kSigned), i(static_cast<int64_t>(v)) {}
  FormatArg(bool v) : kind(Kind::kBool), u(v) {}
  FormatArg(char v) : kind(Kind::kChar), u(static_cast<unsigned char>(v)) {}
  FormatArg(double v) : kind(Kind::kDouble), d(v) {}
  FormatArg(float v) : kind(Kind::kFloat), d(v) {}
  FormatArg(std::string_view v) : kind(Kind::kText), text(v) {}
  FormatArg(const char* v) : kind(Kind::kText), text(v ? v : "") {}
  FormatArg(char* v) : FormatArg(static_cast<const char*>(v)) {}
  template <class T>
  requires std::convertible_to<const T&, std::string_view> FormatArg(const T& v) : kind(Kind::kText), text(v) {}

  Kind kind;
  union {
    int64_t i;
    uint64_t u;
    double d;
    std::string_view text;
  };
};

// The type that stands for T and those that read the same.
template <class T>
struct FormatPassedAs {
  using Type = std::decay_t<T>;
};
template <std::signed_integral T>
requires(!std::same_as<T, char>) struct FormatPassedAs<T> {
  using Type = int64_t;
};
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) struct FormatPassedAs<T> {
  using Type = uint64_t;
};
template <class T>
requires(std::convertible_to<const T&, std::string_view> && !std::is_pointer_v<T>) struct FormatPassedAs<T> {
  using Type = std::string_view;
};
template <class T>
using FormatPassed = typename FormatPassedAs<T>::Type;

// Writes at most `size` bytes, ends with a zero when size > 0, and returns the length written (without the zero);
// with out == nullptr or size == 0 the length that would be needed.
size_t format_args(char* out, size_t size, std::string_view pattern, const FormatArg* args, size_t count);

template <class... Args>
size_t format_to(char* out, size_t size, std::string_view pattern, const Args&... args) {
  const FormatArg list[sizeof...(args) + 1] = {FormatArg(args)..., FormatArg(0)};
  return format_args(out, size, pattern, list, sizeof...(args));
}

}  // namespace mica
