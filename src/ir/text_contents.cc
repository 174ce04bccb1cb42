#include "ir/text_contents.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/hash.h"

namespace mica {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == '-';
}

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < have ? static_cast<uint32_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= have ? kBase64[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::vector<std::byte> from_base64(std::string_view text) {
  if (text.size() % 4) fail(Code::kBadText, "contents in base64 have {} letters, no multiple of 4", text.size());
  std::array<int8_t, 256> value;
  value.fill(-1);
  for (size_t i = 0; i < kBase64.size(); ++i) value[static_cast<unsigned char>(kBase64[i])] = static_cast<int8_t>(i);
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    size_t letters = 4;
    while (i + 4 == text.size() && letters > 2 && text[i + letters - 1] == '=') --letters;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int8_t digit = k < letters ? value[static_cast<unsigned char>(text[i + k])] : int8_t{0};
      if (digit < 0) fail(Code::kBadText, "contents in base64 have a letter that is none of it");
      group = group << 6 | static_cast<uint32_t>(digit);
    }
    for (size_t k = 0; k + 1 < letters; ++k) bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * k)));
  }
  return bytes;
}

// Whether elements read back from numbers exactly: narrow floats and complex numbers are written as bytes, and so are
// floats that are no numbers.
bool reads_as_numbers(const TensorView& view) {
  switch (view.dtype) {
    case DType::kF32:
    case DType::kF64:
    case DType::kF16:
    case DType::kBf16: break;
    default: return is_integer(view.dtype) || view.dtype == DType::kBool || view.dtype == DType::kString;
  }
  const Elements elements(view);
  for (int64_t i = 0; i < view.count(); ++i)
    if (!std::isfinite(elements.number(i))) return false;
  return true;
}

template <class T>
void append_number(std::string& text, T value) {
  char digits[64];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_element(std::string& text, const Elements& elements, DType dtype, int64_t i) {
  if (dtype == DType::kString)
    text += quoted(elements.text(i).view());
  else if (dtype == DType::kU64)
    append_number(text, static_cast<uint64_t>(elements.integer(i)));
  else if (is_integer(dtype) || dtype == DType::kBool)
    append_number(text, elements.integer(i));
  else if (dtype == DType::kF64)
    append_number(text, elements.number(i));
  else
    append_number(text, static_cast<float>(elements.number(i)));
}

std::span<const std::byte> bytes_of(const TensorView& view) {
  return {view.as<std::byte>(), static_cast<size_t>(dense_bytes(view.dtype, view.shape()))};
}

uint64_t digest(const TensorView& view) {
  if (view.dtype != DType::kString) return hash_bytes(bytes_of(view));
  uint64_t hash = 0;
  const Elements elements(view);
  for (int64_t i = 0; i < view.count(); ++i) hash = hash_combine(hash, hash_text(elements.text(i).view()));
  return hash;
}

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

}  // namespace

std::string escaped(std::string_view text, bool quotes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || (quotes && c == '"'))
      (out += '\\') += c;
    else if (byte < 0x20 || byte == 0x7f)
      ((out += "\\x") += kHex[byte >> 4]) += kHex[byte & 15];
    else
      out += c;
  }
  return out;
}

std::string quoted(std::string_view text) { return '"' + escaped(text, true) + '"'; }

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (next == 'x' && i + 3 < text.size() && hex_digit(text[i + 2]) >= 0 && hex_digit(text[i + 3]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 2]) * 16 + hex_digit(text[i + 3]));
      i += 3;
    } else if (next == '\\' || next == '"') {
      out += next;
      ++i;
    } else {
      fail(Code::kBadText, "a text has a wrong escape");
    }
  }
  return out;
}

std::string print_contents(const TensorView& view, const TextOptions& options) {
  const int64_t count = view.count();
  const bool numbers = reads_as_numbers(view);
  if (numbers && (count <= options.short_list || (options.contents && view.dtype == DType::kString))) {
    std::string text = "{";
    const Elements elements(view);
    for (int64_t i = 0; i < count; ++i) {
      if (i) text += ", ";
      append_element(text, elements, view.dtype, i);
    }
    return text + "}";
  }
  if (view.dtype != DType::kString && (options.contents || count <= options.short_list))
    return "base64 \"" + base64(bytes_of(view)) + "\"";
  char hash[17];
  const auto end = std::to_chars(hash, hash + sizeof hash, digest(view), 16).ptr;
  return "digest " + std::string(hash, end);
}

bool LineReader::take(std::string_view word) {
  if (!text_.starts_with(word)) return false;
  const bool letters = is_name_char(word.back());
  if (letters && text_.size() > word.size() && is_name_char(text_[word.size()])) return false;
  text_.remove_prefix(word.size());
  skip();
  return true;
}

void LineReader::expect(std::string_view word) {
  if (!take(word)) fail(Code::kBadText, "expected `{}` before `{}`", word, text_.substr(0, 24));
}

std::string LineReader::quoted_text() {
  if (!next_is('"')) fail(Code::kBadText, "expected a text in quotes before `{}`", text_.substr(0, 24));
  size_t end = 1;
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) fail(Code::kBadText, "a text in quotes has no end");
  std::string text = unescaped(text_.substr(1, end - 1));
  text_.remove_prefix(end + 1);
  skip();
  return text;
}

std::string LineReader::name() {
  size_t end = 0;
  while (end < text_.size() && is_name_char(text_[end])) ++end;
  if (end == 0) fail(Code::kBadText, "expected a name before `{}`", text_.substr(0, 24));
  std::string text(text_.substr(0, end));
  text_.remove_prefix(end);
  skip();
  return text;
}

int64_t LineReader::number() {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (code != std::errc()) fail(Code::kBadText, "expected a number before `{}`", text_.substr(0, 24));
  text_.remove_prefix(static_cast<size_t>(end - text_.data()));
  skip();
  return value;
}

std::string_view LineReader::type() {
  size_t end = 0;
  int depth = 0;
  bool quote = false;
  for (; end < text_.size(); ++end) {
    const char c = text_[end];
    if (c == '`') quote = !quote;
    if (quote) continue;
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth < 0 || (depth == 0 && (c == ' ' || c == ',' || c == '='))) break;
  }
  const std::string_view text = text_.substr(0, end);
  text_.remove_prefix(end);
  skip();
  return text;
}

std::string_view LineReader::until_note() {
  size_t end = 0;
  for (char quote = 0; end < text_.size(); ++end) {
    const char c = text_[end];
    if (quote == '"' && c == '\\')
      ++end;
    else if (quote)
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '`')
      quote = c;
    else if (c == '#')
      break;
  }
  end = std::min(end, text_.size());
  std::string_view text = text_.substr(0, end);
  text_.remove_prefix(end);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

ConstantPtr LineReader::contents(const Type& type) {
  const int64_t count = value_or_throw(element_count(type.shape));
  int64_t bits = 0;
  if (!type.is_tensor() || type.dtype == DType::kNone)
    fail(Code::kBadText, "a constant is a tensor with an element type");
  if (__builtin_mul_overflow(count, std::max(bits_of(type.dtype), 8), &bits))
    fail(Code::kBadText, "a constant has more than 2^63 bits");
  std::vector<int64_t> dims;
  for (Dim d : type.shape.span()) dims.push_back(d.value());
  if (take("base64")) return bytes(type.dtype, dims);
  if (take("digest")) {
    name();
    throw Failure(error(Code::kBadText, "a constant's contents are not in the text, only their digest")
                      .hinting("print the graph with its contents"));
  }
  return list(type.dtype, dims, count);
}

ConstantPtr LineReader::bytes(DType dtype, std::span<const int64_t> dims) {
  if (dtype == DType::kString) fail(Code::kBadText, "texts are written as a list");
  const auto bytes = from_base64(quoted_text());
  if (static_cast<int64_t>(bytes.size()) != dense_bytes(dtype, dims))
    fail(Code::kBadText, "a constant has {} bytes, its type needs {}", bytes.size(), dense_bytes(dtype, dims));
  return Constant::make(dtype, dims, bytes.data());
}

namespace {

template <class T>
T parse_as(std::string_view& text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc()) fail(Code::kBadText, "expected a number before `{}`", text.substr(0, 24));
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

}  // namespace

ConstantPtr LineReader::list(DType dtype, std::span<const int64_t> dims, int64_t count) {
  // An item has at least two letters: a hostile count asks for no more memory than there is text.
  if (count > static_cast<int64_t>(text_.size()))
    fail(Code::kBadText, "a constant's list is shorter than its {} elements", count);
  expect("{");
  std::vector<std::string> texts;
  OwnedTensor tensor = value_or_throw(OwnedTensor::make(dtype, dims));
  if (is_sub_byte(dtype) && count) std::memset(tensor.view().data, 0, static_cast<size_t>(dense_bytes(dtype, dims)));
  const Elements elements(tensor.view());
  for (int64_t i = 0; i < count; ++i) {
    if (i) expect(",");
    if (dtype == DType::kString)
      texts.push_back(quoted_text());
    else if (dtype == DType::kU64)
      elements.set_integer(i, static_cast<int64_t>(parse_as<uint64_t>(text_)));
    else if (is_integer(dtype) || dtype == DType::kBool)
      elements.set_integer(i, parse_as<int64_t>(text_));
    else if (dtype == DType::kF64)
      elements.set_number(i, parse_as<double>(text_));
    else
      elements.set_number(i, static_cast<double>(parse_as<float>(text_)));
    skip();
  }
  expect("}");
  if (dtype != DType::kString) return Constant::own(std::move(tensor));
  std::vector<StringRef> refs;
  refs.reserve(texts.size());
  for (const std::string& text : texts) refs.push_back({text.data(), static_cast<int64_t>(text.size())});
  return Constant::make(dtype, dims, refs.data());
}

}  // namespace mica
