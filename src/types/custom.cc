#include "types/custom.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace mica {
namespace {

constexpr size_t kPartBytes = sizeof(Name) - 1;
constexpr size_t kTextBytes = 3 * kPartBytes;
constexpr std::string_view kHex = "0123456789abcdef";

Status append_escaped(std::string_view text, String& out) {
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && c != '%' && c != ';') {
      MICA_TRY_STATUS(out.append({&c, 1}));
    } else {
      const char code[3] = {'%', kHex[byte >> 4], kHex[byte & 15]};
      MICA_TRY_STATUS(out.append({code, 3}));
    }
  }
  return {};
}

Status append_attribute(const CustomAttribute& a, String& out) {
  MICA_CHECK(!a.name.empty() && a.name.find_first_of("=;") == std::string_view::npos, kBadAttribute,
             "`{}` cannot be the name of an attribute", a.name);
  MICA_TRY_STATUS(out.print("{}{}={}:", out.empty() ? "" : ";", a.name, a.kind));
  if (a.kind == 's' || a.kind == 'S') return append_escaped(a.text, out);
  const size_t count = a.kind == 'i' ? a.integers.size() : a.floats.size();
  for (size_t i = 0; i < count && out.size() <= kTextBytes; ++i) {
    if (i) MICA_TRY_STATUS(out.append(","));
    MICA_TRY_STATUS(a.kind == 'i' ? out.print("{}", a.integers[i]) : out.print("{}", a.floats[i]));
  }
  return {};
}

// Takes the part of `text` up to `stop` (or all of it) and moves on behind it.
std::string_view next_part(std::string_view& text, char stop) {
  const size_t end = std::min(text.find(stop), text.size());
  const std::string_view part = slice(text, 0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return part;
}

Result<std::string_view> copy_text(std::string_view text, CustomMemory& memory) {
  auto* chars = static_cast<char*>(memory.take(text.size() + 1));
  if (!chars) return out_of_memory();
  size_t n = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      chars[n++] = text[i];
      continue;
    }
    const size_t high = i + 2 < text.size() ? kHex.find(text[i + 1]) : kHex.npos;
    const size_t low = high != kHex.npos ? kHex.find(text[i + 2]) : kHex.npos;
    MICA_CHECK(low != kHex.npos, kBadFile, "attributes of an operator have a wrong escape");
    chars[n++] = static_cast<char>(high * 16 + low);
    i += 2;
  }
  chars[n] = 0;
  return std::string_view(chars, n);
}

template <class T>
Result<std::span<const T>> read_list(std::string_view text, CustomMemory& memory) {
  const size_t count = text.empty() ? 0 : 1 + static_cast<size_t>(std::ranges::count(text, ','));
  auto* items = static_cast<T*>(memory.take(std::max<size_t>(count, 1) * sizeof(T)));
  if (!items) return out_of_memory();
  for (size_t i = 0; i < count; ++i) {
    const std::string_view item = next_part(text, ',');
    const auto [end, code] = std::from_chars(item.data(), item.data() + item.size(), items[i]);
    MICA_CHECK(code == std::errc() && end == item.data() + item.size(), kBadFile, "`{}` in attributes is no number",
               item);
  }
  return std::span<const T>(items, count);
}

Result<CustomAttribute> read_attribute(std::string_view text, CustomMemory& memory) {
  CustomAttribute made;
  MICA_TRY(made.name, copy_text(next_part(text, '='), memory));
  const std::string_view kind = next_part(text, ':');
  MICA_CHECK(kind == "i" || kind == "f" || kind == "s" || kind == "S", kBadFile, "attribute `{}` has an unknown kind",
             made.name);
  made.kind = kind[0];
  if (made.kind == 'i') {
    MICA_TRY(made.integers, read_list<int64_t>(text, memory));
  } else if (made.kind == 'f') {
    MICA_TRY(made.floats, read_list<float>(text, memory));
  } else {
    MICA_TRY(made.text, copy_text(text, memory));
  }
  return made;
}

}  // namespace

Result<CustomAttributes> write_custom(std::span<const CustomAttribute> list) {
  String text;
  for (const CustomAttribute& attribute : list) MICA_TRY_STATUS(append_attribute(attribute, text));
  MICA_CHECK(text.size() <= kTextBytes, kLimit, "the attributes take more than {} bytes as text", kTextBytes);
  CustomAttributes made;
  for (size_t i = 0; i < 3; ++i) made.parts[i].assign(slice(text, i * kPartBytes, kPartBytes));
  return made;
}

Result<std::span<const CustomAttribute>> read_custom(const CustomAttributes& attributes, CustomMemory& memory) {
  char text[kTextBytes];
  size_t size = 0;
  for (const Name& part : attributes.parts) {
    std::memcpy(text + size, part.chars, part.view().size());
    size += part.view().size();
  }
  std::string_view rest(text, size);
  const size_t count = rest.empty() ? 0 : 1 + static_cast<size_t>(std::ranges::count(rest, ';'));
  auto* list = static_cast<CustomAttribute*>(memory.take(std::max<size_t>(count, 1) * sizeof(CustomAttribute)));
  if (!list) return out_of_memory();
  for (size_t i = 0; i < count; ++i) {
    MICA_TRY(const CustomAttribute made, read_attribute(next_part(rest, ';'), memory));
    new (list + i) CustomAttribute(made);
  }
  return std::span<const CustomAttribute>(list, count);
}

}  // namespace mica
