// The text form of attributes.
#include <charconv>

#include "base/nearest.h"
#include "types/attr_bytes.h"
#include "types/attr_fields.h"

namespace mica {
namespace {

Status print_value(bool v, const DimTable&, String& out) { return out.append(v ? "true" : "false"); }
Status print_value(int64_t v, const DimTable&, String& out) { return out.print("{}", v); }
Status print_value(float v, const DimTable&, String& out) { return out.print("{}", v); }
Status print_value(DType v, const DimTable&, String& out) { return out.append(name_of(v)); }
Status print_value(Dim v, const DimTable& dims, String& out) { return dims.print(v, out); }

template <class T, size_t N>
Status print_value(const FixedList<T, N>& list, const DimTable& dims, String& out) {
  MICA_TRY_STATUS(out.append("["));
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) MICA_TRY_STATUS(out.append(","));
    MICA_TRY_STATUS(print_value(list[i], dims, out));
  }
  return out.append("]");
}

// Quotes, backslashes and control characters are escaped; other bytes stand for themselves.
Status print_value(const Name& name, const DimTable&, String& out) {
  constexpr char kHex[] = "0123456789abcdef";
  MICA_TRY_STATUS(out.append("\""));
  for (char c : name.view()) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20)
      MICA_TRY_STATUS(out.print("\\x{}{}", kHex[code >> 4], kHex[code & 15]));
    else if (c == '"' || c == '\\')
      MICA_TRY_STATUS(out.print("\\{}", c));
    else
      MICA_TRY_STATUS(out.append({&c, 1}));
  }
  return out.append("\"");
}

class Printer final : public EachField<Printer> {
 public:
  Printer(const AttrBytes& own, const AttrBytes& usual, const DimTable& dims, String& out)
      : own_(own), usual_(usual), dims_(dims), out_(out) {}
  template <class T>
  void each(std::string_view name, const T& value, std::string_view) {
    if (begin(name)) status_ = print_value(value, dims_, out_);
  }
  void choice(std::string_view name, int64_t& v, std::span<const std::string_view> names, std::string_view) override {
    if (!begin(name)) return;
    const bool known = v >= 0 && v < static_cast<int64_t>(names.size());
    status_ = known ? out_.append(names[static_cast<size_t>(v)])
                    : error(Code::kBadAttribute, "`{}` has no choice {}", name, v);
  }
  Status take_status() { return std::move(status_); }

 private:
  // Whether the field differs from its default; then its name stands there.
  bool begin(std::string_view name) {
    const uint32_t i = index_++;
    if (!status_.ok() || std::ranges::equal(own_.field(i), usual_.field(i))) return false;
    status_ = out_.print(any_ ? ", {}=" : "{}=", name);
    any_ = true;
    return status_.ok();
  }
  const AttrBytes &own_, &usual_;
  const DimTable& dims_;
  String& out_;
  uint32_t index_ = 0;
  bool any_ = false;
  Status status_;
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// Takes what stands before the next comma that is in no bracket and no quotes.
std::string_view take_item(std::string_view& text) {
  size_t end = 0;
  int depth = 0;
  for (char quote = 0; end < text.size(); ++end) {
    const char c = text[end];
    if (quote) {
      if (quote == '"' && c == '\\')
        ++end;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '`') {
      quote = c;
    } else if (c == ',' && depth == 0) {
      break;
    } else {
      depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    }
  }
  end = std::min(end, text.size());
  const std::string_view item = trim(slice(text, 0, end));
  text.remove_prefix(std::min(text.size(), end + 1));
  return item;
}

template <class T>
Status parse_number(std::string_view text, T& v) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
  MICA_CHECK(code == std::errc() && end == text.data() + text.size() && !text.empty(), kBadText,
             "`{}` is no number that fits", slice(text, 0, 32));
  return {};
}
Status parse_value(std::string_view text, int64_t& v, DimTable&) { return parse_number(text, v); }
Status parse_value(std::string_view text, float& v, DimTable&) { return parse_number(text, v); }
Status parse_value(std::string_view text, bool& v, DimTable&) {
  MICA_CHECK(text == "true" || text == "false", kBadText, "`{}` is neither true nor false", slice(text, 0, 32));
  v = text == "true";
  return {};
}
Status parse_value(std::string_view text, DType& v, DimTable&) {
  v = dtype_of(text);
  if (v != DType::kNone || text == name_of(DType::kNone)) return {};
  Nearest nearest(text);
  for (int i = 1; i < kDTypeCount; ++i) nearest.offer(name_of(static_cast<DType>(i)));
  return error(Code::kBadText, "`{}` is no element type", slice(text, 0, 32)).hinting(nearest.best());
}
Status parse_value(std::string_view text, Dim& v, DimTable& dims) {
  MICA_TRY(v, dims.parse(text));
  return {};
}

template <class T, size_t N>
Status parse_value(std::string_view text, FixedList<T, N>& list, DimTable& dims) {
  MICA_CHECK(text.size() >= 2 && text.front() == '[' && text.back() == ']', kBadText, "a list stands in [ ], not `{}`",
             slice(text, 0, 32));
  list = {};
  for (text = trim(slice(text, 1, text.size() - 2)); !text.empty();) {
    T item{};
    const bool more = text.back() == ',';
    MICA_TRY_STATUS(parse_value(take_item(text), item, dims));
    MICA_CHECK(list.push(item), kLimit, "a list has more than {} items", N);
    MICA_CHECK(!text.empty() || !more, kBadText, "a list ends with a comma");
  }
  return {};
}

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

Status parse_value(std::string_view text, Name& name, DimTable&) {
  MICA_CHECK(text.size() >= 2 && text.front() == '"' && text.back() == '"', kBadText,
             "a text stands in quotes, not `{}`", slice(text, 0, 32));
  name = {};
  size_t length = 0;
  for (text = slice(text, 1, text.size() - 2); !text.empty();) {
    char c = text[0];
    size_t used = 1;
    if (c == '\\') {
      const bool hex = text.size() >= 4 && text[1] == 'x' && hex_digit(text[2]) >= 0 &&
                       hex_digit(text[3]) > (text[2] == '0' ? 0 : -1);
      MICA_CHECK(hex || (text.size() >= 2 && (text[1] == '"' || text[1] == '\\')), kBadText,
                 "a text has a wrong escape");
      c = hex ? static_cast<char>(hex_digit(text[2]) * 16 + hex_digit(text[3])) : text[1];
      used = hex ? 4 : 2;
    }
    MICA_CHECK(c != 0 && length + 1 < sizeof name.chars, kLimit, "a text has more than {} bytes",
               sizeof name.chars - 1);
    name.chars[length++] = c;
    text.remove_prefix(used);
  }
  return {};
}

// Sets the one field that is called `wanted`.
class Setter final : public EachField<Setter> {
 public:
  Setter(std::string_view wanted, std::string_view text, DimTable& dims)
      : wanted_(wanted), text_(text), nearest_(wanted), dims_(dims) {}
  template <class T>
  void each(std::string_view name, T& value, std::string_view) {
    if (!is_wanted(name)) return;
    status_ = parse_value(text_, value, dims_);
    if (!status_.ok()) status_ = status_.take_error().at(name);
  }
  void choice(std::string_view name, int64_t& v, std::span<const std::string_view> names, std::string_view) override {
    if (!is_wanted(name)) return;
    const auto at = std::ranges::find(names, text_);
    if (at != names.end()) {
      v = at - names.begin();
      return;
    }
    Nearest near(text_);
    for (std::string_view choice : names) near.offer(choice);
    status_ = hinted(error(Code::kBadAttribute, "`{}` has no choice `{}`", name, slice(text_, 0, 64)), near.best());
  }
  Status finish() {
    if (found_) return std::move(status_);
    return hinted(error(Code::kBadAttribute, "there is no attribute `{}`", slice(wanted_, 0, 64)), nearest_.best());
  }
  uint64_t index() const { return index_; }

 private:
  static Error hinted(Error e, std::string_view name) {
    if (name.empty()) return e;
    char text[128];
    return std::move(e).hinting({text, format_to(text, sizeof text, "did you mean `{}`?", name)});
  }
  bool is_wanted(std::string_view name) {
    if (!found_) ++index_;
    if (name != wanted_) {
      nearest_.offer(name);
      return false;
    }
    found_ = true;
    return true;
  }
  std::string_view wanted_, text_;
  Nearest nearest_;
  DimTable& dims_;
  bool found_ = false;
  uint64_t index_ = 0;  // of the field found, counted from 1
  Status status_;
};

}  // namespace

Status print_attributes(const AttrClass& cls, const void* attributes, const DimTable& dims, String& out) {
  if (!cls.visit) return {};
  alignas(16) char usual[kMaxAttrBytes];
  cls.init(usual);
  alignas(16) char copy[kMaxAttrBytes];
  std::memcpy(copy, attributes, cls.bytes);
  const AttrBytes own_bytes = bytes_of_attributes(cls, attributes), usual_bytes = bytes_of_attributes(cls, usual);
  Printer printer(own_bytes, usual_bytes, dims, out);
  cls.visit(copy, printer);
  return printer.take_status();
}

Status parse_attributes(const AttrClass& cls, void* attributes, std::string_view text, DimTable& dims) {
  if (cls.init) cls.init(attributes);
  uint64_t seen = 0;  // a bit for each field; AttrBytes::kMaxFields of them
  for (text = trim(text); !text.empty();) {
    const bool more = text.back() == ',';
    const std::string_view item = take_item(text);
    const size_t equals = item.find('=');
    MICA_CHECK(equals != std::string_view::npos && (!text.empty() || !more), kBadText,
               "an attribute is written name=value, not `{}`", slice(item, 0, 32));
    const std::string_view name = trim(slice(item, 0, equals));
    Setter setter(name, trim(slice(item, equals + 1)), dims);
    if (cls.visit) cls.visit(attributes, setter);
    MICA_TRY_STATUS(setter.finish());
    const uint64_t bit = uint64_t{1} << ((setter.index() - 1) % AttrBytes::kMaxFields);
    MICA_CHECK(!(seen & bit), kBadText, "the attribute `{}` is given twice", name);
    seen |= bit;
  }
  return {};
}

}  // namespace mica
