#include "base/format.h"

#include <charconv>
#include <cstring>

#include "base/string.h"

namespace mica {
namespace {

std::string_view print(const FormatArg& arg, char (&buffer)[64]) {
  const auto text = [&](std::to_chars_result r) {
    return std::string_view(buffer, static_cast<size_t>(r.ptr - buffer));
  };
  switch (arg.kind) {
    case FormatArg::Kind::kSigned: return text(std::to_chars(buffer, buffer + 64, arg.i));
    case FormatArg::Kind::kUnsigned: return text(std::to_chars(buffer, buffer + 64, arg.u));
    case FormatArg::Kind::kDouble: return text(std::to_chars(buffer, buffer + 64, arg.d));
    case FormatArg::Kind::kFloat: return text(std::to_chars(buffer, buffer + 64, static_cast<float>(arg.d)));
    case FormatArg::Kind::kBool: return arg.u ? "true" : "false";
    case FormatArg::Kind::kChar: buffer[0] = static_cast<char>(arg.u); return {buffer, 1};
    case FormatArg::Kind::kText: break;
  }
  return arg.text;
}

}  // namespace

size_t format_args(char* out, size_t size, std::string_view pattern, const FormatArg* args, size_t count) {
  const bool measure = out == nullptr || size == 0;
  size_t length = 0, used = 0;
  const auto add = [&](std::string_view part) {
    if (!measure && !part.empty()) {
      const size_t room = size - 1 - length;
      part = slice(part, 0, room);
      std::memcpy(out + length, part.data(), part.size());
    }
    length += part.size();
  };
  while (!pattern.empty()) {
    const size_t brace = pattern.find("{}");
    add(slice(pattern, 0, brace));
    if (brace == std::string_view::npos) break;
    pattern.remove_prefix(brace + 2);
    char buffer[64];
    add(used < count ? print(args[used++], buffer) : std::string_view("{}"));
  }
  if (!measure) out[length] = 0;
  return length;
}

}  // namespace mica
